"""Sums over ranks, by simulated AllReduces."""
import equarx
import numpy as np
import torch


def all_reduced(brought: torch.Tensor, format: str, **options) -> tuple[torch.Tensor, equarx.Outcome]:
    """The sum over the first axis in FP32, as every rank ends with it, and the AllReduce's outcome
    from equarx. `options`: as of equarx.allreduce."""
    outcome = equarx.allreduce(brought.contiguous(), format, **options)
    bits = torch.from_numpy(np.ascontiguousarray(outcome.result).view(np.int16 if brought.dtype == torch.bfloat16
                                                                      else np.float32))
    total = bits.view(torch.bfloat16).float() if brought.dtype == torch.bfloat16 else bits
    return total.view(brought.shape[1:]), outcome

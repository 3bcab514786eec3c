"""Models and training equal PyTorch's own if nothing is quantized."""
import math
import pathlib
import tempfile
import unittest

from quality import text_file

import torch
from torch.nn import functional

import corpus
from models import Hooks, Model, Shape, losses, xielu, xielu_parameters
from store import QualityError
from training import NotFinite, Schedule, Trainer

SMALL = {"layers": 2, "width": 32, "heads": 4, "ffn": 64}


class Norm(torch.nn.Module):
    def __init__(self, gain):
        super().__init__()
        self.gain = gain

    def forward(self, x):
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5) * self.gain


class Reference(torch.nn.Module):
    """The same model, written without hooks: complex rotations, torch.nn.Linear, heads by einsum."""

    def __init__(self, model: Model):
        super().__init__()
        self.model, self.shape = model, model.shape
        self.scale = model.shape.softmax_scale or model.shape.head ** -0.5

    def linear(self, weight):
        layer = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=False)
        layer.weight = weight
        return layer

    def rotated(self, x):
        half = x.shape[-1] // 2
        turn = torch.outer(torch.arange(x.shape[1]), 10000.0 ** (-torch.arange(half) / half))[:, None]
        z = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(turn), turn)
        return torch.cat((z.real, z.imag), -1)

    def attention(self, block, x):
        parts = [self.linear(block[name])(x).unflatten(-1, (self.shape.heads, -1)) for name in ("q", "k", "v")]
        q, k, v = parts
        if self.shape.kind == "fog":
            q, k = Norm(1.0)(q), Norm(1.0)(k)
        scores = torch.einsum("sqhc,skhc->shqk", self.rotated(q), self.rotated(k)) * self.scale
        mask = torch.full(scores.shape[-2:], -math.inf).triu(1)
        mixed = torch.einsum("shqk,skhc->sqhc", functional.softmax(scores + mask, -1), v)
        return self.linear(block["out"])(mixed.flatten(2))

    def ffn(self, block, x):
        up = self.linear(block["up"])(x)
        if self.shape.has_xielu:
            above = torch.log(1 + torch.exp(block["alpha_p"])) * up * up
            below = (0.5 + torch.log(1 + torch.exp(block["alpha_n"]))) * (torch.exp(up) - 1 - up)
            return self.linear(block["down"])(0.5 * up + above * (up > 0) + below * (up <= 0))
        if self.shape.kind == "fog":
            return self.linear(block["down"])(torch.nn.GELU()(up))
        return self.linear(block["down"])(torch.nn.SiLU()(self.linear(block["gate"])(x)) * up)

    def forward(self, tokens):
        x = torch.nn.functional.embedding(tokens, self.model.embedding)
        if self.shape.kind == "fog":
            x = x / 0.02
        for block in self.model.blocks:
            for gain, work in ((block["attention_gain"], self.attention), (block["ffn_gain"], self.ffn)):
                before = self.shape.kind == "llama"
                x = x + (work(block, Norm(gain)(x)) if before else Norm(gain)(work(block, x)))
        return self.linear(self.model.head)(Norm(self.model.last_gain)(x) if self.shape.final_norm else x)


class ModelsTest(unittest.TestCase):
    def test_the_exact_path_equals_pytorch(self):
        tokens = torch.randint(90, (3, 20), generator=torch.Generator().manual_seed(5))
        published = Shape("fog", final_norm=False, softmax_scale=0.125, **SMALL)
        for shape in (Shape(**SMALL), Shape("fog", **SMALL), Shape("fog", activation="gelu", **SMALL), published):
            model = Model(shape, 1)
            torch.testing.assert_close(model(tokens), Reference(model)(tokens), atol=1e-5, rtol=1e-5)

    def test_later_characters_do_not_affect_earlier_ones(self):
        model, tokens = Model(Shape(**SMALL), 1), torch.arange(40)[None] % 90
        changed = tokens.clone()
        changed[0, 30] = 7
        before, after = model(tokens), model(changed)
        torch.testing.assert_close(before[:, :30], after[:, :30])
        self.assertFalse(torch.equal(before[:, 30:], after[:, 30:]))

    def test_fog_begins_with_small_gains_and_has_as_many_weights(self):
        llama, fog, gelu = Model(Shape("llama"), 1), Model(Shape("fog"), 1), Model(Shape("fog", activation="gelu"), 1)
        weights = [sum(weight.numel() for weight in model.parameters()) for model in (llama, gelu, fog)]
        self.assertEqual(weights[0], weights[1])
        self.assertEqual(weights[2] - weights[1], 2 * 4)  # two curvatures of each of four layers
        self.assertEqual(float(fog.blocks[0]["ffn_gain"][0]), 0.5)  # four layers
        self.assertEqual(float(llama.blocks[0]["ffn_gain"][0]), 1.0)


    def test_published_fog_has_no_final_norm_and_a_fixed_scale(self):
        adapted, published = (Model(Shape("fog", **changes), 1)
                              for changes in ({}, {"final_norm": False, "softmax_scale": 0.125}))
        self.assertEqual(set(adapted.state_dict()) - set(published.state_dict()), {"last_gain"})
        tokens = torch.arange(40)[None] % 90
        scaled = Model(Shape("fog", final_norm=False, softmax_scale=8 ** -0.5), 1)  # heads of 8
        unscaled = Model(Shape("fog", final_norm=False), 1)
        torch.testing.assert_close(scaled(tokens), unscaled(tokens), atol=0, rtol=0)
        self.assertFalse(torch.equal(published(tokens), unscaled(tokens)))


class XieluTest(unittest.TestCase):
    def test_xielu_is_the_integral_of_a_line_and_an_exponential(self):
        """Huang and Schlag, arXiv 2411.13010, begin with the derivative, here with both curvatures
        0.8."""
        parameters = xielu_parameters()
        for end in (-6.0, -1.0, -0.01, 0.01, 0.7, 5.0):
            t = torch.linspace(0, end, 200_001, dtype=torch.float64)
            slope = torch.where(t > 0, 2 * 0.8 * t + 0.5, 0.8 * (torch.exp(t) - 1) + 0.5)
            got = xielu(torch.tensor(end), parameters["alpha_p"], parameters["alpha_n"])
            self.assertAlmostEqual(float(got.detach()), float(torch.trapezoid(slope, t)), places=5)

    def test_curvatures_are_learnt(self):
        parameters = xielu_parameters()
        xielu(torch.tensor([-2.0, 1.5]), parameters["alpha_p"], parameters["alpha_n"]).sum().backward()
        # d/d alpha of softplus is the sigmoid; 1 - 1 / (1 + e^alpha) = 1 - e^-softplus
        self.assertAlmostEqual(float(parameters["alpha_p"].grad), 1.5 ** 2 * (1 - math.exp(-0.8)), places=5)
        self.assertAlmostEqual(float(parameters["alpha_n"].grad),
                               (math.exp(-2.0) + 1.0) * (1 - math.exp(-0.3)), places=5)

    def test_monitors_see_values_before_and_after(self):
        seen = {}

        class Looks(Hooks):
            def see(self, where, x):
                seen[where] = x

        model = Model(Shape("fog", **SMALL), 1)
        model(torch.arange(4)[None], Looks())
        block = model.blocks[1]
        torch.testing.assert_close(xielu(seen["1/ffn_before"], block["alpha_p"], block["alpha_n"]),
                                   seen["1/ffn_after"], atol=0, rtol=0)


class CorpusTest(unittest.TestCase):
    def test_the_text_is_the_last_one_requested(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            long = corpus.prepare(folder, text_file(folder, 60_000))
            short = corpus.prepare(folder, text_file(folder, 30_000))
            self.assertEqual((len(long.train), len(short.train), len(short.held_out)), (54_000, 27_000, 3_000))
            self.assertNotEqual(long.digest(), short.digest())
            self.assertEqual(corpus.load(folder).digest(), short.digest())

    def test_validation_text_and_reported_text_are_disjoint(self):
        with tempfile.TemporaryDirectory() as name:
            text = corpus.prepare(pathlib.Path(name), text_file(pathlib.Path(name), 30_000))
            self.assertEqual(text.validation(4, 99)[-1, -1], text.held_out[-1])
            self.assertEqual(text.validation(15, 99).shape, (15, 100))
            with self.assertRaisesRegex(QualityError, "the text is too short: 3000 .* and 3200 are needed"):
                text.validation(16, 99)


class TrainingTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.folder.name)
        self.corpus = corpus.prepare(folder, text_file(folder))
        self.schedule = Schedule(steps=4, sequences=4, length=16, held_out=2)

    def tearDown(self):
        self.folder.cleanup()

    def test_unquantized_training_equals_pytorch_bit_for_bit(self):
        ours = Trainer(Shape(**SMALL), self.schedule, self.corpus, 3)
        # only for its batches and first weights
        plain = Trainer(Shape(**SMALL), self.schedule, self.corpus, 3)
        adam = torch.optim.AdamW(plain.model.parameters(), lr=1.0, betas=(0.9, 0.95), weight_decay=0.1)
        for step in range(4):
            ours.advance()
            tokens = plain.next_batch()
            adam.zero_grad()
            losses(plain.model(tokens[:, :-1]), tokens[:, 1:]).mean().backward()
            torch.nn.utils.clip_grad_norm_(plain.model.parameters(), 1.0)
            adam.param_groups[0]["lr"] = self.schedule.rate_at(step)
            adam.step()
        for one, other in zip(ours.model.parameters(), plain.model.parameters()):
            self.assertTrue(torch.equal(one, other))

    def test_training_reduces_the_loss(self):
        schedule = Schedule(steps=60, sequences=4, length=16, held_out=2, rate=1e-2)
        trainer = Trainer(Shape(**SMALL), schedule, self.corpus, 3)
        before = trainer.held_out_loss()
        for _ in range(60):
            trainer.advance()
        self.assertLess(trainer.held_out_loss(), before - 1)

    def test_a_non_finite_loss_stops_with_step_and_place(self):
        trainer = Trainer(Shape(**SMALL), self.schedule, self.corpus, 3)
        trainer.advance()
        with torch.no_grad():
            trainer.model.blocks[1]["up"][0, 0] = math.nan
        with self.assertRaisesRegex(NotFinite, "not finite in step 2; first in 1/ffn_before"):
            trainer.advance()

    def test_a_doubling_rate_is_unbounded(self):
        schedule = Schedule(steps=40, rate=1e-3, doubling=10)
        for step, rate in ((0, 1e-3), (10, 2e-3), (35, 2.0 ** 3.5 * 1e-3)):
            self.assertAlmostEqual(schedule.rate_at(step), rate)

    def test_hooks_see_every_layer(self):
        seen = []

        class Looks(Hooks):
            def see(self, where, x):
                seen.append(where)

        Model(Shape(**SMALL), 1)(torch.zeros(1, 4, dtype=torch.long), Looks())
        names = ("qkv_input", "q", "k", "ffn_before", "ffn_after", "ffn_output", "output")
        self.assertEqual(seen, [f"{layer}/{name}" for layer in (0, 1) for name in names])


if __name__ == "__main__":
    unittest.main()

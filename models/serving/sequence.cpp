#include "models/serving/sequence.hpp"

namespace equarx::serving {

void Sequence::enter(State next, double now_s) {
  if (!is_cause(state)) spent_s[index(state)] += now_s - since_s;
  state = next;
  since_s = now_s;
}

}  // namespace equarx::serving

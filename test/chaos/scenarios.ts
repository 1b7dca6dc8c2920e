// The scenarios of the chaos suite, in the order in which they run.

import type { Scenario } from './scenario.ts';
import { heldDoors } from './scenarios/held-doors.ts';
import { killedNameserver } from './scenarios/killed-nameserver.ts';

export const SCENARIOS: readonly Scenario[] = [killedNameserver, heldDoors];

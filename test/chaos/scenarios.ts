// The scenarios of the chaos suite, in the order in which they run.

import type { Scenario } from './scenario.ts';
import { killedNameserver } from './scenarios/killed-nameserver.ts';

export const SCENARIOS: readonly Scenario[] = [killedNameserver];

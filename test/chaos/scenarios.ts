// The scenarios of the chaos suite, in the order in which they run.

import type { Scenario } from './scenario.ts';
import { hungPostgres } from './scenarios/hung-postgres.ts';
import { killedNameserver } from './scenarios/killed-nameserver.ts';
import { largeBodies } from './scenarios/large-bodies.ts';
import { wrongBodies } from './scenarios/wrong-bodies.ts';

export const SCENARIOS: readonly Scenario[] = [largeBodies, hungPostgres, killedNameserver, wrongBodies];

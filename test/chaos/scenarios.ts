// The scenarios of the chaos suite, in the order in which they run.

import type { Scenario } from './scenario.ts';
import { badImports } from './scenarios/bad-imports.ts';
import { brokenSnapshot } from './scenarios/broken-snapshot.ts';
import { forgedQuestions } from './scenarios/forged-questions.ts';
import { fullDisk } from './scenarios/full-disk.ts';
import { heldDoors } from './scenarios/held-doors.ts';
import { hungPostgres } from './scenarios/hung-postgres.ts';
import { killedNameserver } from './scenarios/killed-nameserver.ts';
import { largeBodies } from './scenarios/large-bodies.ts';
import { unreadAnswers } from './scenarios/unread-answers.ts';
import { wrongBodies } from './scenarios/wrong-bodies.ts';

export const SCENARIOS: readonly Scenario[] = [
  largeBodies,
  brokenSnapshot,
  badImports,
  hungPostgres,
  forgedQuestions,
  killedNameserver,
  heldDoors,
  fullDisk,
  unreadAnswers,
  wrongBodies,
];

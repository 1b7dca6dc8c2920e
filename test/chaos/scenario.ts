// What a scenario of the chaos suite is: one attack or fault on a running `npm start`, while a witness asks and edits.

import type { Stage } from './stage.ts';

/** Something that the scenario measured beside what the witness saw, as `label: text` in the last column. */
export interface Figure {
  readonly label: string;
  readonly text: string;
  /** False: it is outside of what is wanted, which fails the run. */
  readonly isMet: boolean;
}

export interface Scenario {
  /** As in `npm run chaos NAME`; the name of the file. */
  readonly name: string;
  /** What is done to it, in a few words. */
  readonly attack: string;
  /** Environment of `npm start`, beside what the stage sets. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Why this machine cannot run it; undefined: it can. */
  readonly lacks?: () => string | undefined;
  /** The fault is expected to stop edits while it lasts (the database is away): calls that fail meanwhile are no fault. */
  readonly stopsEdits?: true;
  /** Resolves when the attack is over. `stage.faultEnds()` marks the moment from which recovery counts; else the end does. */
  run(stage: Stage): Promise<readonly Figure[]>;
}

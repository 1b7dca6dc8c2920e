// The snapshot of the nameserver is made unfit in ways that its checksums do not show, and the nameserver is killed: it loads
// from Postgres instead, and has a sound snapshot again for the kill after.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { resealBase } from '../../support/processes/resealed-snapshot.ts';
import { until } from '../../support/tests/until.ts';
import type { Scenario } from '../scenario.ts';
import type { Stage } from '../stage.ts';

const READY_TIMEOUT_MS = 60_000;

const WAYS: readonly ((file: string) => void)[] = [
  (file) => resealBase(file, ({ blocks }) => blocks.fill(0xff, 8, 2048)),
  (file) => resealBase(file, ({ header }) => header.fill(7, 64, 96)),
  (file) =>
    resealBase(file, ({ head }) => {
      head.place = { epoch: 'x' };
    }),
  (file) => {
    rmSync(file);
    mkdirSync(file);
  },
  (file) => {
    rmSync(file);
    execFileSync('mkfifo', [file]);
  },
];

export const brokenSnapshot: Scenario = {
  name: 'broken-snapshot',
  attack:
    'the snapshot contradicts itself behind checksums that fit, or is a directory or a pipe; then a kill',
  async run(stage) {
    let away = 0;
    let replaced = 0;
    for (const breakIt of WAYS) {
      const file = await untilSnapshot(stage);
      breakIt(file);
      away = Math.max(away, await stage.killNameserver());
      await until(() => !existsSync(file), 'another snapshot in its place', READY_TIMEOUT_MS);
      replaced++;
    }
    return [
      { label: 'away at most', text: `${away.toFixed(1)} s`, isMet: away <= 15 },
      { label: 'replaced', text: `${replaced} of ${WAYS.length}`, isMet: replaced === WAYS.length },
    ];
  },
};

/** The newest base there is, of a generation that is whole. */
function untilSnapshot(stage: Stage): Promise<string> {
  const nodes = join(stage.dataDirectory, 'nodes');
  return until(
    () => {
      const [name] = existsSync(nodes) ? readdirSync(nodes) : [];
      if (name === undefined) return undefined;
      const images = readdirSync(join(nodes, name)).filter((file) => file.endsWith('.image'));
      return images.length === 1 ? join(nodes, name, images[0] as string) : undefined;
    },
    'a snapshot',
    READY_TIMEOUT_MS,
  );
}

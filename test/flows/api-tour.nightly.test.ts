// Runs the commands of docs/api.md, docs/admin-api.md and docs/reseller.md against a first `npm start` (for resellers against the
// demo, which has a registrar), and compares the responses with those in the documents.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTour, type Step, Walk } from '../support/cli/tour.ts';
import { isInstalled } from '../support/peers/peers.ts';
import { FreshClone, type StartedClone } from '../support/processes/fresh-clone.ts';

const run = promisify(execFile);
const DOCUMENTS = [
  ['docs/api.md docs/admin-api.md', 20, { ALLOW_RESERVED_NAMES: 'on' }, []],
  ['docs/reseller.md', 20, { ROOT_HINTS: '' }, ['--demo']],
] as const;
const missing = ['curl', 'dig', 'bash'].filter((program) => !isInstalled(program));
const skipped = missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;

describe.skipIf(process.platform !== 'linux' || skipped !== '').each(DOCUMENTS)(
  `the tour in %s${skipped}`,
  (documents, fewest, environment, words) => {
    const steps = documents
      .split(' ')
      .flatMap((path) => readTour(readFileSync(join(import.meta.dirname, '../..', path), 'utf8')));
    const walk = new Walk();
    const variables: Record<string, string> = {};
    let clone: FreshClone;
    let started: StartedClone;

    beforeAll(async () => {
      clone = await FreshClone.make();
      started = clone.start(environment, words);
      await started.ready();
      variables.API =
        / {2}API {7}(http:\S+) \(description: \/openapi\.yaml\)$/m.exec(started.output)?.[1] ?? '';
      const registrar = /^ {2}registrar (http:\S+)/m.exec(started.output)?.[1];
      if (registrar !== undefined) variables.REGISTRAR = registrar;
      variables.KEY =
        / {2}API key {3}(svc_\w{40}) \(of a global admin; shown only once\)$/m.exec(started.output)?.[1] ??
        '';
    });
    afterAll(async () => {
      started?.npm.kill('SIGTERM');
      await started?.ended;
      await clone?.remove();
    });

    async function answerTo(step: Step): Promise<string> {
      const command = walk
        .commandOf(step)
        .replaceAll('-p 5300 ', `-p ${clone.dnsPort} `)
        .replaceAll('npx zonefleet ', 'node src/cli/zonefleet.mjs ');
      const [, assigned] = /^([A-Z]+)=/.exec(command) ?? [];
      const script = assigned === undefined ? command : `${command}\nprintf %s "$${assigned}"`;
      const { stdout } = await run('bash', ['-euc', script], {
        cwd: clone.directory,
        env: { ...clone.environment, ...variables },
        timeout: 30_000,
      });
      if (assigned !== undefined) variables[assigned] = stdout;
      return stdout;
    }

    it('has the required address and key', () => {
      expect(variables).toEqual({
        API: expect.stringMatching(/^http:/),
        KEY: expect.stringMatching(/^svc_/),
        ...(words.length > 0 && { REGISTRAR: expect.stringMatching(/^http:/) }),
      });
      expect(steps.length).toBeGreaterThan(fewest);
    });

    // In the order of the document, because each command builds on the earlier ones.
    it.each(
      steps.map((step): [number, string, Step] => [step.line, step.command.split('\n')[0] ?? '', step]),
    )('line %i: %s', async (_line, _command, step) => {
      expect(walk.differences(step, await answerTo(step))).toEqual([]);
    });
  },
);

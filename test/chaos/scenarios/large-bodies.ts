// Four accounts send the largest batches that are allowed, all at once; another one's calls go on.

import type { Scenario } from '../scenario.ts';
import { watchCalls } from '../watch-calls.ts';

const ACCOUNTS = 4;
const ITEMS = 10_000;
const TEXT_CHARACTERS = 2_900;

export const largeBodies: Scenario = {
  name: 'large-bodies',
  attack: `${ACCOUNTS} accounts send a dry-run batch of 30 MB each at once`,
  async run(stage) {
    const accounts = await Promise.all(
      Array.from({ length: ACCOUNTS }, (_, i) => stage.newAccount(`large${i}`, 'pro')),
    );
    const create = Array.from({ length: ITEMS }, (_, i) => ({
      name: `n${i}`,
      type: 'TXT',
      destination: 'x'.repeat(TEXT_CHARACTERS),
    }));
    const bytes = Buffer.from(JSON.stringify({ create }));
    const others = await watchCalls(stage, await stage.newAccount('other'));
    const answers = await Promise.all(
      accounts.map(({ domain, key }) =>
        stage.call('PUT', `/domains/${domain}/records/batch?dry_run=true`, bytes, key),
      ),
    );
    const { worstMs } = await others.stop();
    const done = answers.filter(({ status }) => status === 200).length;
    return [
      { label: 'batches', text: `${done} of ${ACCOUNTS}`, isMet: done === ACCOUNTS },
      { label: 'others', text: `${worstMs.toFixed(0)} ms`, isMet: worstMs <= 500 },
    ];
  },
};

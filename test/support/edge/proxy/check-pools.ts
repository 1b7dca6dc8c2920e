// Asks the members of origin pools whether they are well, as often as their rules say.

import { askOrigin } from '../origin/ask-origin.ts';
import type { Serving } from './serving.ts';

const CHECK_TIMEOUT_MS = 5_000;

export async function checkPools({ configs, pools, ways, now }: Serving): Promise<void> {
  const checks = configs.all().flatMap(({ rules, hosts }) =>
    rules.flatMap((rule) => {
      if (rule.type !== 'origin_pool') return [];
      return pools.due(rule, now()).map(async (origin) => {
        const { host, port, scheme } = origin;
        const name = rule.hosts?.[0] ?? hosts[0]?.host ?? host;
        const target = { destination: host, port, scheme, timeoutMs: CHECK_TIMEOUT_MS };
        const asked = {
          method: 'GET',
          path: rule.health?.path ?? '/',
          headers: {},
          visited: scheme,
          host: name,
        };
        const reply = await askOrigin(ways, target, asked);
        const isHealthy = reply.kind === 'answer' && reply.response.statusCode === rule.health?.status;
        pools.checked(rule, origin, isHealthy);
        if (reply.kind === 'answer') reply.response.resume();
      });
    }),
  );
  await Promise.all(checks);
}

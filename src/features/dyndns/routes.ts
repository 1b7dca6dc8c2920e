// GET /nic/update of the protocol dyndns2. The answer has one line per host. Each host is a change of its own, so a refused
// host does not affect the others.

import { explainOne } from '../../api/actions/edit-problem.ts';
import { saveJudged } from '../../api/actions/save-records.ts';
import { BASIC_CHALLENGE, CompatAnswer, type CompatSurface } from '../../api/answers/compat-answer.ts';
import { invalid, Problem } from '../../api/answers/problem.ts';
import { judgeNarrowing } from '../../api/callers/caller.ts';
import type { Call } from '../../api/calls/call.ts';
import type { Route } from '../../api/calls/route.ts';
import { anyKey, compatRoute } from '../../api/compat/compat-route.ts';
import { findDomainOfName } from '../../api/compat/find-domain-of-name.ts';
import type { Name } from '../../dns/name.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import {
  itemsOf,
  MAX_HOSTS,
  type PlannedHost,
  planHost,
  printAddresses,
  readAddresses,
  readHost,
} from './rules.ts';
import { UpdateQuery } from './schema.ts';

const DYNDNS: CompatSurface = {
  name: 'dyndns2',
  explain: ({ status, error, headers }) => {
    // Clients stop at `badauth`, so that the owner can give them another key.
    if (status === 401 || status === 403) return lines(['badauth'], 401, BASIC_CHALLENGE);
    return status === 400 ? lines([error], status) : lines([codeOf(status)], 200, headers);
  },
};

const update = compatRoute(DYNDNS, anyKey, {
  method: 'GET',
  path: '/nic/update',
  operationId: 'dyndnsUpdate',
  audit: 'changes',
  writes: true,
  query: UpdateQuery,
  async run(call) {
    const { hostname, myip, myipv6, offline } = call.query;
    const hosts = itemsOf(hostname);
    if (hosts.length === 0) return lines(['notfqdn']);
    if (hosts.length > MAX_HOSTS) return lines(['numhost']);
    if (/^yes$/i.test(offline ?? '')) return lines(hosts.map(() => 'nohost'));
    const listed = (myip ?? myipv6) === undefined ? undefined : [...itemsOf(myip), ...itemsOf(myipv6)];
    const read = readAddresses(listed, call.caller.address);
    if ('problem' in read) return invalid([{ field: 'myip', error: read.problem }]);
    const answers: string[] = [];
    for (const host of hosts) {
      const name = readHost(host);
      answers.push(name === undefined ? 'notfqdn' : await updateHost(call, name, read.addresses));
    }
    return lines(answers);
  },
});

type Addresses = Parameters<typeof planHost>[2]['addresses'];

async function updateHost(call: Call, name: Name, given: Addresses): Promise<string> {
  const { key } = call.caller;
  const addresses = given.filter(({ type }) => judgeNarrowing(key, [{ name, type }]) === undefined);
  if (addresses.length === 0) return 'nohost';
  const domain = await findDomainOfName(call, name);
  if (domain instanceof Problem) return codeOf(domain.status);
  const mayCreate = key.names?.includes(printWithoutDot(name)) === true;
  let planned = undefined as PlannedHost | undefined;
  const saved = await call.inTurnOf(domain.id, () =>
    saveJudged(
      { ...call, domain },
      async (locked) => {
        planned = planHost(await locked.recordsAt([name]), name, { addresses, mayCreate });
        return planned.edit;
      },
      explainOne,
    ),
  );
  if (saved instanceof Problem) return codeOf(saved.status);
  const { code, addresses: used } = planned as PlannedHost;
  if (code !== 'good') return code;
  return `${saved.kind === 'unchanged' ? 'nochg' : code} ${printAddresses(used)}`;
}

/** Returns the return code for a refusal. Clients retry only after `911`. */
function codeOf(status: number): string {
  if (status === 429) return 'abuse';
  return status >= 500 ? '911' : 'nohost';
}

function lines(answers: readonly string[], status = 200, headers: Readonly<Record<string, string>> = {}) {
  return new CompatAnswer(`${answers.join('\n')}\n`, { status, headers });
}

export const DYNDNS_ROUTES: readonly Route[] = [update];

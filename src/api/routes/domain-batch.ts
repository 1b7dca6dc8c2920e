// POST /domains/batch: creates domains of the calling account, up to a hundred in one transaction.

import type { z } from 'zod';
import { lockRoom } from '../../store/accounts/account-limits.ts';
import { createUnlessOwn } from '../../store/dnssec/create-signed-domain.ts';
import type { Domain } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import { readOwnDomain, refuseDomain } from '../actions/create-domain.ts';
import { createInGroups } from '../actions/create-in-groups.ts';
import { Problem } from '../answers/problem.ts';
import type { CallOf } from '../calls/call.ts';
import { account, route } from '../calls/route.ts';
import { printDomain, printNewClaim } from '../print/print-domain.ts';
import { OWN_DOMAIN_REFUSALS, OwnDomainBatch, OwnDomainBatchResult } from '../schemas/domain-batch.ts';

export const createDomains = route(account(), {
  method: 'POST',
  path: '/domains/batch',
  operationId: 'createDomains',
  tag: 'Domains',
  summary: 'Creates up to 1,000 domains.',
  description:
    'Each domain is created as by `createDomain`, in the order of the request, up to a hundred in one transaction. A domain that is refused does not affect the others. If the call fails, repeat it: the groups that were created stay, and domains that the account already has are reported as `exists`. In any 60 seconds, an account may list as many domains in this call as a key may make requests. A call that begins below this limit is carried out completely; after that, calls get a 429 with `Retry-After`.',
  audit: 'changes',
  // Each group has its own transaction, so that names are not locked until the call ends.
  waits: true,
  body: OwnDomainBatch,
  response: OwnDomainBatchResult,
  problems: ['managed_by_reseller'],
  statuses: [429],
  async run(call) {
    const { api, caller, body, log } = call;
    const { id, isAdmin } = caller.account;
    const counted = await api.domainRate?.take(`domains:${id}`, body.domains.length);
    if (counted?.problem !== undefined) {
      const message = `an account can list ${counted.limit} domains in 60 seconds in this call`;
      return new Problem(429, message, { headers: counted.problem.headers });
    }
    return await createInGroups(body.domains, {
      db: api.db,
      log,
      // The account's lock precedes those of names, as in a single create.
      ...(!isAdmin && { lockFirst: (trx: Database) => lockRoom(trx, id) }),
      create: (db, item, index) => createOne(call, db, item, index),
    });
  },
});

type Batch = z.output<typeof OwnDomainBatch>;
type Result = z.input<typeof OwnDomainBatchResult>['domains'][number];

async function createOne(
  call: CallOf<'account', unknown, unknown, Batch>,
  db: Database,
  item: Batch['domains'][number],
  index: number,
): Promise<Result> {
  const { name } = item;
  const read = readOwnDomain(call, item, 'api');
  if (read instanceof Problem) return refused(name, index, read);
  const made = await createUnlessOwn(db, read.domain, read.signing);
  if (made.kind !== 'created' && made.kind !== 'exists') return refused(name, index, refuseDomain(made));
  return {
    name,
    outcome: made.kind,
    ...shown(made.domain, made.kind === 'created' && !call.caller.account.isAdmin),
    ...(made.changeId !== undefined && { change_id: made.changeId }),
  };
}

function shown(domain: Domain, isNewClaim: boolean): Partial<Result> {
  const print = isNewClaim ? printNewClaim : printDomain;
  const { id, status, served, svc_ns, verification, findings } = print({ ...domain, myRole: 'owner' });
  return { id, status, served, svc_ns, findings, ...(verification && { verification }) };
}

function refused(name: string, index: number, { code, error, members }: Problem): Result {
  const known = OWN_DOMAIN_REFUSALS.find((each) => each === code) ?? 'dnssec_unavailable';
  const at = `domains[${index}]`;
  const text =
    members.fields === undefined ? `${code === 'domain_taken' ? '.name' : ''}: ${error}` : `.${error}`;
  return { name, outcome: 'refused', code: known, error: `${at}${text}` };
}

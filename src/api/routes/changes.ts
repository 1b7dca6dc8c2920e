// Lists the changes of a domain or of all domains of an account, shows one with the number of nameservers that have
// loaded it, and reverts one.

import { z } from 'zod';
import { parseName } from '../../dns/name.ts';
import { saveRevert } from '../../store/change/save-revert.ts';
import { inSync } from '../../store/feed/in-sync.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { LogPage } from '../../store/postgres/list-page.ts';
import {
  type ChangeFilter,
  countAccountChanges,
  countDomainChanges,
  type DomainChange,
  listAccountChanges,
  listDomainChanges,
  loadDomainChange,
} from '../../store/records/load-changes.ts';
import { explainRevert } from '../actions/edit-problem.ts';
import { answerWrite } from '../actions/save-records.ts';
import { waitForSync } from '../actions/wait-for-sync.ts';
import { forbidden, notFound, Problem, problem } from '../answers/problem.ts';
import type { StreamedArray } from '../answers/streams.ts';
import { asActor, asStoreCaller, judgeNarrowing, mayDo, writesRecordsOnly } from '../callers/caller.ts';
import { answerList, type ListCall, logQuery, pagesById } from '../calls/answer-list.ts';
import type { CallOf } from '../calls/call.ts';
import { account, domain, type Route, route } from '../calls/route.ts';
import type { Viewer } from '../print/print-account.ts';
import { printChange, printChanges, type SeenChange, storedSources } from '../print/print-change.ts';
import { ACTOR_KINDS, CHANGE_SOURCES, Change } from '../schemas/change.ts';
import { idText, integerText, listText } from '../schemas/fields.ts';

/** Few per read, because a change can have 10,000 records. */
const CHANGES_PER_READ = 20;

function changesQuery(first: 'newest' | 'oldest') {
  return z.object({
    source: listText(CHANGE_SOURCES).optional(),
    actor: listText(ACTOR_KINDS).optional(),
    ...logQuery(first),
  });
}
type ChangesQuery = z.output<ReturnType<typeof changesQuery>>;

interface ChangeLog {
  readonly first: 'newest' | 'oldest';
  readonly load: (page: LogPage, filter: ChangeFilter) => Promise<readonly SeenChange[]>;
  readonly count: (filter: ChangeFilter) => Promise<number>;
}

function answerChanges(
  db: Database,
  call: ListCall & { readonly query: ChangesQuery },
  { first, load, count }: ChangeLog,
): Promise<z.input<typeof Change>[] | StreamedArray<z.input<typeof Change>> | Problem> {
  const { after, source, actor, sort } = call.query;
  const filter = { after, sources: source?.flatMap(storedSources), actors: actor };
  return answerList(call, {
    load: pagesById<SeenChange>(
      sort?.descends ?? first === 'newest',
      (page) => load(page, filter),
      ({ change }) => change.id,
    ),
    count: () => count(filter),
    print: (changes) => printChanges(db, changes),
    readAtOnce: CHANGES_PER_READ,
  });
}

const listChanges = route(account(), {
  method: 'GET',
  path: '/changes',
  operationId: 'listChanges',
  tag: 'Changes',
  summary: 'Lists the changes of all domains that you may see, oldest first.',
  description:
    'To follow the log, call again with `after` set to the highest id that you have: later changes always have higher ids. Moved and deleted domains are included.',
  query: changesQuery('oldest'),
  response: z.array(Change),
  answerHeaders: ['Link', 'X-Total-Count'],
  run(call) {
    const { db } = call.api;
    const { caller } = call;
    const { domains } = caller.key;
    const names = domains === null ? {} : { names: domains.map((name) => parseName(`${name}.`)) };
    const asking = asStoreCaller(caller);
    return answerChanges(db, call, {
      first: 'oldest',
      async load(page, filter) {
        const changes = await listAccountChanges(db, asking, { ...filter, ...names }, page);
        return changes.map((change) => ({
          change,
          apex: change.domainName,
          role: change.role,
          viewer: call.caller.account,
        }));
      },
      count: (filter) => countAccountChanges(db, asking, { ...filter, ...names }),
    });
  },
});

const tag = 'Changes';
const MAX_WAIT_SECONDS = 10;

const listChangesOfDomain = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/changes',
  operationId: 'listDomainChanges',
  tag,
  summary: 'Lists the changes of a domain, newest first.',
  query: changesQuery('newest'),
  response: z.array(Change),
  answerHeaders: ['Link', 'X-Total-Count'],
  run(call) {
    const { db } = call.api;
    const { domain } = call;
    return answerChanges(db, call, {
      first: 'newest',
      async load(page, filter) {
        const changes = await listDomainChanges(db, domain.id, page, filter);
        return changes.map((change) => seenBy(call, change));
      },
      count: (filter) => countDomainChanges(db, domain.id, filter),
    });
  },
});

function seenBy(
  {
    domain: { name, myRole },
    caller,
  }: {
    readonly domain: Pick<CallOf<'domain'>['domain'], 'name' | 'myRole'>;
    readonly caller: { readonly account: Viewer };
  },
  change: DomainChange,
): SeenChange {
  return { change, apex: name, role: myRole, viewer: caller.account };
}

const oneChange = {
  params: z.object({ id: idText }),
  find: ({ api, domain, params }: CallOf<'domain', { id: number }>) =>
    loadDomainChange(api.db, domain.id, params.id),
  finds: 'change',
};

const getChange = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/changes/{id}',
  operationId: 'getDomainChange',
  tag,
  summary: 'Returns a change, and the number of nameservers that have loaded it.',
  description: `With \`wait\`, the response is sent when every expected nameserver has loaded the change, or after this many seconds. A nameserver is expected until it signs off or has not been seen for 24 hours.`,
  ...oneChange,
  query: z.object({
    wait: integerText(0, MAX_WAIT_SECONDS).optional().describe('Seconds to wait for `in_sync`.'),
  }),
  response: Change,
  async run({ api: { db }, domain, caller, found, query: { wait = 0 }, gone }) {
    const state =
      wait === 0
        ? (await inSync(db, [found.id])).get(found.id)
        : await waitForSync(db, found.id, wait * 1000, gone);
    return printChange(seenBy({ domain, caller }, found), state);
  },
});

const revertChange = route(domain('records.edit', { writesRecords: true }), {
  method: 'POST',
  path: '/domains/{domain}/changes/{id}/revert',
  operationId: 'revertDomainChange',
  audit: 'changes',
  tag,
  summary: 'Reverts a change of records or rules, in a new change.',
  description:
    'Refused if a later change touched the same records or rules and was not itself reverted. Deleted ones are restored with their ids. Returns the new change. If records change, the serial increases.',
  ...oneChange,
  response: Change,
  answerHeaders: ['X-Change-Id', 'X-Zone-Serial'],
  problems: ['wrong_state', 'plan_feature', 'plan_limit', 'record_conflict', 'domain_secondary'],
  conflicts: true,
  async run(call) {
    const { api, caller, domain, found } = call;
    if (found.rules.length > 0) {
      if (writesRecordsOnly(caller.key)) return forbidden('this API key may write only certain records');
      if (!mayDo(domain.myRole, 'rules.edit')) return forbidden('your role lacks rules.edit');
    }
    const records = found.ops.flatMap(({ before, after }) => [before, after]);
    const refused = judgeNarrowing(
      caller.key,
      records.filter((record) => record !== undefined),
    );
    if (refused !== undefined) return refused;
    const { id: domainId, accountId: ownerId } = domain;
    const { originAllow = [] } = api;
    const order = { domainId, ownerId, changeId: found.id, by: asActor(caller), originAllow };
    const saved = await saveRevert(api.db, order);
    switch (saved.kind) {
      case 'no_change':
        return notFound('change');
      case 'nothing_to_revert':
        return problem('wrong_state', saved.message);
      case 'lacking':
        return problem('wrong_state', saved.message);
      case 'conflict':
        return saved.of === 'record'
          ? problem('record_conflict', saved.message)
          : new Problem(409, saved.message);
    }
    const answered = answerWrite(call, saved, explainRevert);
    if (answered instanceof Problem) return answered;
    if (answered.kind !== 'saved') return problem('wrong_state', 'nothing is left to revert');
    const change = await loadDomainChange(api.db, domain.id, answered.changeId);
    if (change === undefined) throw new Error('the saved change was not found');
    return printChange(seenBy(call, change), (await inSync(api.db, [change.id])).get(change.id));
  },
});

export const CHANGE_ROUTES: readonly Route[] = [listChanges, listChangesOfDomain, getChange, revertChange];

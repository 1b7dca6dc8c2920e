// Lists the checks of a domain with their evidence. A run with an unchanged outcome is counted on the previous row.

import { z } from 'zod';
import { VERDICTS } from '../../checks/delegation/verdict.ts';
import {
  countChecks,
  listChecks,
  loadCheck,
  loadLatestCheck,
  type SavedRun,
} from '../../store/checks/check-runs.ts';
import { loadChildCheck } from '../../store/checks/child-checks.ts';
import { answerList, logQuery, pagesById } from '../calls/answer-list.ts';
import type { CallOf } from '../calls/call.ts';
import { domain, type Route, route } from '../calls/route.ts';
import { printCheck, printChildCheck } from '../print/print-check.ts';
import { CHECK_KINDS, Check } from '../schemas/checks/check.ts';
import { booleanText, idText, listText } from '../schemas/fields.ts';
import { checkNameservers } from './ns-check.ts';

const tag = 'Checks';
/** Rows per database read, because evidence can be large. */
const CHECKS_PER_READ = 20;

const listChecksOfDomain = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/checks',
  operationId: 'listDomainChecks',
  tag,
  summary: "Lists the checks of a domain's delegation, newest first.",
  description:
    'A check by the service with the same result as the previous one is not listed separately: it is counted in `repeated`.',
  query: z.object({
    kind: listText(CHECK_KINDS).optional(),
    verdict: listText(VERDICTS).optional(),
    ...logQuery('newest'),
    evidence: booleanText
      .optional()
      .describe('If true, includes the response of each address of the parent.'),
  }),
  response: z.array(Check),
  answerHeaders: ['Link', 'X-Total-Count'],
  run(call) {
    const { db } = call.api;
    const { id: domainId } = call.domain;
    const { after, kind, verdict, sort, evidence = false } = call.query;
    const filter = { after, kinds: kind, verdicts: verdict };
    return answerList(call, {
      load: pagesById<SavedRun>(
        sort?.descends ?? true,
        (page) => listChecks(db, domainId, { ...page, evidence }, filter),
        ({ id }) => id,
      ),
      count: () => countChecks(db, domainId, filter),
      print: async (runs) => runs.map(printCheck),
      readAtOnce: CHECKS_PER_READ,
    });
  },
});

const getLatestCheck = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/checks/latest',
  operationId: 'getLatestDomainCheck',
  tag,
  summary: 'Returns the newest check, in the same form as `getDomainCheck`.',
  find: ({ api, domain }: CallOf<'domain'>) => loadLatestCheck(api.db, domain.id),
  finds: 'check',
  response: Check,
  run: (call) => answerCheck(call, call.found),
});

const getCheck = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/checks/{id}',
  operationId: 'getDomainCheck',
  tag,
  summary:
    "Returns a check, with the response of each address of the parent, and the newest check of the domain's own nameservers.",
  params: z.object({ id: idText }),
  find: ({ api, domain, params }: CallOf<'domain', { id: number }>) =>
    loadCheck(api.db, domain.id, params.id),
  finds: 'check',
  response: Check,
  run: (call) => answerCheck(call, call.found),
});

async function answerCheck(
  { api, caller, domain }: Pick<CallOf<'domain'>, 'api' | 'caller' | 'domain'>,
  run: SavedRun,
) {
  const child = await loadChildCheck(api.db, domain.id);
  const printed = printCheck(run);
  return child === undefined
    ? printed
    : { ...printed, child: printChildCheck(child, caller.account.isAdmin) };
}

export const CHECK_ROUTES: readonly Route[] = [
  checkNameservers,
  listChecksOfDomain,
  getLatestCheck,
  getCheck,
];

// POST /httpreq/present and /httpreq/cleanup, as lego's provider `httpreq` and Caddy's module `acmeproxy` call them. Errors are
// text, because lego prints the body.

import type { z } from 'zod';
import { explainOne } from '../../api/actions/edit-problem.ts';
import { saveJudged } from '../../api/actions/save-records.ts';
import { waitForSync } from '../../api/actions/wait-for-sync.ts';
import { BASIC_CHALLENGE, CompatAnswer, type CompatSurface } from '../../api/answers/compat-answer.ts';
import { invalid, Problem } from '../../api/answers/problem.ts';
import { judgeNarrowing } from '../../api/callers/caller.ts';
import type { Call } from '../../api/calls/call.ts';
import type { Route } from '../../api/calls/route.ts';
import { anyKey, compatRoute } from '../../api/compat/compat-route.ts';
import { findDomainOfName } from '../../api/compat/find-domain-of-name.ts';
import { inSync } from '../../store/feed/in-sync.ts';
import type { Database } from '../../store/postgres/database.ts';
import { addRecord, readChallenge, removeRecord } from './rules.ts';
import { ChallengeBody } from './schema.ts';
import { newestChangeId } from './sql.ts';

const HTTPREQ: CompatSurface = {
  name: 'httpreq',
  explain: ({ status, error, headers }) =>
    new CompatAnswer(error, { status, headers: status === 401 ? BASIC_CHALLENGE : headers }),
};

const MAX_WAIT_MS = 10_000;

const present = compatRoute(HTTPREQ, anyKey, {
  method: 'POST',
  path: '/httpreq/present',
  operationId: 'httpreqPresent',
  audit: 'changes',
  body: ChallengeBody,
  async run(call) {
    const saved = await saveChallenge(call, call.body, addRecord);
    if (saved instanceof Problem) return saved;
    const { db } = call.api;
    // The record of a repeated call may have been added a moment ago.
    const changeId = saved.changeId ?? (await newestChangeId(db, saved.domainId));
    if (changeId !== undefined) await waitForNodes(db, changeId, call.gone);
    return done(call.body);
  },
});

const cleanup = compatRoute(HTTPREQ, anyKey, {
  method: 'POST',
  path: '/httpreq/cleanup',
  operationId: 'httpreqCleanup',
  audit: 'changes',
  body: ChallengeBody,
  async run(call) {
    const saved = await saveChallenge(call, call.body, removeRecord);
    return saved instanceof Problem ? saved : done(call.body);
  },
});

/** Caddy's module requires that the response repeats the request. */
function done({ FQDN, Value }: z.output<typeof ChallengeBody>): CompatAnswer {
  return CompatAnswer.json({ FQDN, Value });
}

/** Resolves when every live node serves the change, or after 10 s: lego then checks the nameservers itself. */
async function waitForNodes(db: Database, changeId: number, gone: AbortSignal): Promise<void> {
  const state = (await inSync(db, [changeId])).get(changeId);
  if (state?.inSync === false && state.nodes.live > 0) await waitForSync(db, changeId, MAX_WAIT_MS, gone);
}

interface SavedChallenge {
  readonly domainId: number;
  /** Undefined if nothing had to be changed. */
  readonly changeId: number | undefined;
}

async function saveChallenge(
  call: Call,
  { FQDN, Value, fqdn = FQDN, value = Value, ...body }: z.output<typeof ChallengeBody>,
  edit: typeof addRecord,
): Promise<SavedChallenge | Problem> {
  const { key } = call.caller;
  const read = readChallenge({ ...body, fqdn, value }, key.names);
  if (read.kind === 'problem') return invalid([{ field: read.field, error: read.message }]);
  const { challenge } = read;
  const domain = await findDomainOfName(call, challenge.name);
  if (domain instanceof Problem) return domain;
  // Checked even if nothing changes, so that a key cannot test which records exist.
  const outside = judgeNarrowing(key, [{ name: challenge.name, type: 'TXT' }]);
  if (outside !== undefined) return outside;
  const saved = await call.inTurnOf(domain.id, () =>
    saveJudged(
      { ...call, domain },
      async (locked) => edit(await locked.recordsAt([challenge.name]), challenge),
      explainOne,
    ),
  );
  if (saved instanceof Problem) return saved;
  return { domainId: domain.id, changeId: saved.kind === 'saved' ? saved.changeId : undefined };
}

export const HTTPREQ_ROUTES: readonly Route[] = [present, cleanup];

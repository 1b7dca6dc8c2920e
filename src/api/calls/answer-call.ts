// Answers one admitted request, in any thread. With an Idempotency-Key, the handler runs inside its own transaction.

import type { FastifyBaseLogger } from 'fastify';
import {
  type Answer,
  type CondensedResponse,
  KEEP_RULES,
  KEPT_FOR_EVER,
  type RunOnce,
  runOnce,
  type StoredResponse,
} from '../../store/accounts/kept-answers.ts';
import { type AuditNote, writeAudit } from '../../store/audit/write-audit.ts';
import type { Database } from '../../store/postgres/database.ts';
import { allowLong } from '../../store/postgres/deadlines.ts';
import { inTransaction, rollBackTo } from '../../store/postgres/transaction.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { Problem, problem } from '../answers/problem.ts';
import { type ApiCaller, asActor } from '../callers/caller.ts';
import type { EdgeCaller } from '../callers/edge-callers.ts';
import type { Asker } from '../people/people.ts';
import type { Api, Call, Following } from './call.ts';
import type { Admitted } from './guard.ts';
import { findReplay, idempotentRequest, remakeAnswer, storedResponse } from './idempotency.ts';
import type { Route } from './route.ts';

/** A request whose body and query were validated. */
export interface AskedCall {
  readonly method: string;
  readonly url: string;
  /** Undefined if a public route is called without a session. */
  readonly admitted: Admitted | undefined;
  /** The observer that calls, and its address. */
  readonly vantage?: { readonly name: string; readonly address: string } | undefined;
  /** The payment gateway that calls. */
  readonly gateway?: string | undefined;
  /** The edge node that calls, and the path parameters. */
  readonly edge?: { readonly caller: EdgeCaller; readonly params: Admitted['params'] } | undefined;
  readonly query: unknown;
  readonly body: unknown;
  /** The bytes of the body as received. */
  readonly segments: readonly Uint8Array[];
  readonly log: FastifyBaseLogger;
  readonly gone: AbortSignal;
  readonly following?: Following | undefined;
  /** Undefined in threads. */
  readonly asker?: Asker | undefined;
  /** Undefined in threads, which handle one call at a time. */
  readonly inTurnOf?: Call['inTurnOf'];
}

export type CallAnswer =
  | { readonly kind: 'problem'; readonly problem: Problem }
  | {
      readonly kind: 'outcome';
      readonly outcome: unknown;
      readonly headers: Readonly<Record<string, string>>;
      readonly cookies: readonly string[];
    }
  /** Is not validated by the schema: a stored response stays as it was, even if the schema has changed. */
  | { readonly kind: 'stored'; readonly response: StoredResponse; readonly replayed: boolean };

/** Runs the work after earlier writes of the same domain. It calls `leave` to let the next one begin before its end. */
export type InTurn = <T>(work: (leave?: () => void) => Promise<T>) => Promise<T>;

/** From this body size, the transaction gets more time. */
const LONG_BYTES = 256 * 1024;

export async function answerCall(
  api: Api,
  route: Route,
  asked: AskedCall,
  inTurn: InTurn,
): Promise<CallAnswer> {
  const { admitted } = asked;
  const key = admitted?.idempotencyKey;
  if (admitted === undefined || key === undefined || route.writesNothing === true) {
    const begin = (leave?: () => void) => runWhole(api, route, asked, leave);
    const { outcome, headers, cookies } = await (route.waits === true ? begin() : inTurn(begin));
    if (outcome instanceof Problem) return { kind: 'problem', problem: outcome };
    return { kind: 'outcome', outcome, headers, cookies };
  }
  const request = idempotentRequest(asked, key, admitted.caller);
  const rules = route.keptForEver === true ? KEPT_FOR_EVER : KEEP_RULES;
  const bytes = asked.segments.reduce((sum, segment) => sum + segment.length, 0);
  const answer = async (db: Database): Promise<Answer> => {
    // The transaction is idle while the body is processed.
    if (db.isTransaction && bytes >= LONG_BYTES) await allowLong(db);
    const { outcome, headers, rest } = await runWhole({ ...api, db }, route, asked);
    const whole = outcome instanceof Problem ? outcome : route.response.parse(outcome);
    const answer = storedResponse(whole, headers, rest);
    if (route.withoutSecrets === undefined || whole instanceof Problem) return answer;
    return { ...answer, keptBody: route.withoutSecrets(whole) };
  };
  const once: RunOnce = await inTurn(async () => {
    if (route.waits !== true) return await runOnce(api.db, request, answer, rules);
    const before = await findReplay(api.db, request);
    if (before !== undefined) return before;
    const response = await answer(api.db);
    return await runOnce(api.db, request, async () => response);
  });
  if (once.kind === 'mismatch') {
    return {
      kind: 'problem',
      problem: problem(
        'idempotency_mismatch',
        'this Idempotency-Key was already used for a different request',
      ),
    };
  }
  if (once.kind === 'response') return { kind: 'stored', response: once.response, replayed: once.replayed };
  const response = await remakeAnswer(once.response, (kept) => remake(api, route, asked, kept));
  return { kind: 'stored', response, replayed: true };
}

/** Runs after the transaction and outside the domain's queue, since it may take as long as the first call did. */
async function remake(
  api: Api,
  route: Route,
  { admitted, body }: AskedCall,
  { headers, changeId, rest }: CondensedResponse,
): Promise<unknown> {
  const domain = admitted?.domain;
  if (route.remake === undefined || domain === undefined) return undefined;
  const made = await route.remake({ api, domain, body, headers, changeId, rest });
  const read = route.response.safeParse(made);
  return read.success ? read.data : undefined;
}

/** Runs the handler and writes the audit row of its route in one transaction. A refused call writes nothing. */
async function runWhole(api: Api, route: Route, asked: AskedCall, leaveTurn?: () => void): Promise<Ran> {
  const { audit } = route;
  const caller = asked.admitted?.caller;
  if (typeof audit !== 'string' || audit === 'changes' || caller === undefined)
    return await run(api, route, asked, leaveTurn);
  return await inTransaction<Ran>(api.db, async (trx) => {
    const ran = await run({ ...api, db: trx }, route, asked);
    if (ran.outcome instanceof Problem) rollBackTo(ran);
    if (!ran.isAudited) throw new Error(`${route.operationId} did not call audit()`);
    for (const note of ran.notes)
      await writeAudit(trx, {
        ...subjectOf(route, asked, caller),
        ...note,
        action: audit,
        by: asActor(caller),
      });
    return ran;
  });
}

/** Default subject of an audit row. A write by a global admin has none, because it concerns others. */
function subjectOf({ access }: Route, { admitted }: AskedCall, { account }: ApiCaller): AuditNote {
  if (access.kind === 'admin') return {};
  const domain = admitted?.domain;
  if (domain === undefined) return { accountId: account.id };
  return { domainId: domain.id, target: { name: printWithoutDot(domain.name) } };
}

interface Ran {
  readonly outcome: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly rest: unknown;
  readonly notes: readonly AuditNote[];
  readonly isAudited: boolean;
}

async function run(api: Api, route: Route, asked: AskedCall, leaveTurn?: () => void): Promise<Ran> {
  const { admitted, query, body, url, log } = asked;
  const headers: Record<string, string> = {};
  const cookies: string[] = [];
  const notes: AuditNote[] = [];
  let isAudited = false;
  let rest: unknown;
  const outcome: unknown = await route.run({
    api,
    caller: admitted?.caller,
    domain: admitted?.domain,
    found: admitted?.found,
    vantage: asked.vantage?.name,
    gateway: asked.gateway,
    edge: asked.edge?.caller,
    address: asked.vantage?.address,
    params: admitted?.params ?? asked.edge?.params ?? {},
    query,
    body,
    url,
    log,
    idempotencyKey: admitted?.idempotencyKey,
    get gone() {
      return asked.gone;
    },
    answerHeader(name: string, value: string | number) {
      headers[name] = String(value);
    },
    following: asked.following,
    leaveTurn,
    inTurnOf: asked.inTurnOf ?? ((_domainId: number, work: () => Promise<unknown>) => work()),
    audit(note?: AuditNote) {
      isAudited = true;
      if (note !== undefined) notes.push(note);
    },
    answerRest(value: unknown) {
      rest = value;
    },
    people: api.people,
    asker: asked.asker,
    setCookie(text: string) {
      cookies.push(text);
    },
  });
  return { outcome, headers, cookies, rest, notes, isAudited };
}

// Streams the events of a domain as server-sent events (HTML "Server-sent events").

import { z } from 'zod';
import {
  encodeEventCursor,
  MAX_CURSOR_CHARACTERS,
  type ToldChange,
  type ToldVerification,
} from '../../store/feed/domain-events.ts';
import type { Role } from '../../store/postgres/tables/schema.ts';
import { DOMAIN_STATUSES } from '../../zone/domain/domain-status.ts';
import { PROBLEM_CODES, Problem, unavailable } from '../answers/problem.ts';
import { StreamedLines } from '../answers/streams.ts';
import { mayDo } from '../callers/caller.ts';
import { domain, route } from '../calls/route.ts';
import { type EventPrinter, streamEvents } from '../events/domain-stream.ts';
import type { DomainEvent, NodesState } from '../events/domain-watch.ts';
import { mayTrace, printActor, type Viewer } from '../print/print-account.ts';
import { publicSource } from '../print/print-change.ts';
import { printCheck } from '../print/print-check.ts';
import { CHANGE_SOURCES, Change } from '../schemas/change.ts';
import { booleanText, Id, Timestamp } from '../schemas/fields.ts';

const ChangeEvent = z.object({
  id: Id,
  serial: z.int().min(0),
  at: Timestamp,
  actor: Change.shape.actor,
  source: z.enum(CHANGE_SOURCES),
  records: z.object({
    created: z.int().min(0),
    updated: z.int().min(0),
    deleted: z.int().min(0),
  }),
  rules: z.int().min(0),
  reverts: Id.optional(),
});

const StatusEvent = z.object({
  from: z.enum(DOMAIN_STATUSES).optional(),
  to: z.enum(DOMAIN_STATUSES).optional(),
  at: Timestamp,
  change_id: Id,
  check_id: Id.optional(),
});

const VerificationEvent = z.object({
  finished_at: Timestamp,
  verdict: z.string(),
  found: z.int().min(0),
  asked: z.int().min(0),
  message: z.string(),
});

const NodesEvent = z.object({
  change_id: Id,
  in_sync: z.boolean(),
  seen: z.int().min(0),
  live: z.int().min(0),
  ms: z.int().min(0).optional(),
});

/** Time after which a browser reconnects. */
const RETRY_MS = 2000;

/** Only roles that manage the members of the domain see addresses and keys of actors. */
function eventPrinter(role: Role, viewer: Viewer): EventPrinter {
  const traces = mayDo(role, 'members.manage');
  return {
    open: (cursor) =>
      `retry: ${RETRY_MS}\n${frame('open', { cursor: encodeEventCursor(cursor) }, encodeEventCursor(cursor))}`,
    event: (event) => printEvent(event, (change) => traces && mayTrace(change, viewer)),
    nodes: (state) => frame('nodes', printNodes(state)),
    progress: (progress) => frame('progress', progress),
  };
}

function printEvent(event: DomainEvent, isTraced: (change: ToldChange) => boolean): string {
  const id = encodeEventCursor(event.cursor);
  switch (event.kind) {
    case 'check':
      return frame('check', printCheck(event.run), id);
    case 'verification':
      return frame('verification', printVerification(event.run), id);
    case 'change': {
      const { change } = event;
      const status = printStatus(change);
      const sent = frame('change', printChange(change, isTraced(change)), id);
      // A client that disconnects between the two receives both again.
      return status === undefined ? sent : `${frame('status', status)}${sent}`;
    }
    case 'reset':
      return frame('reset', { cursor: id }, id);
    default:
      return event satisfies never;
  }
}

/** JSON.stringify writes no line breaks. */
function frame(event: string, data: object, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

function printChange(change: ToldChange, isTraced: boolean): z.input<typeof ChangeEvent> {
  const { id, serial, at, actor, source, created, updated, deleted, rules, reverts } = change;
  return {
    id,
    serial,
    at: at.toISOString(),
    actor: printActor(actor, isTraced),
    source: publicSource(source),
    records: { created, updated, deleted },
    rules,
    ...(reverts !== null && { reverts }),
  };
}

function printStatus({ id, at, from, to, checkId }: ToldChange): z.input<typeof StatusEvent> | undefined {
  if (from === null && to === null) return undefined;
  return {
    ...(from !== null && { from }),
    ...(to !== null && { to }),
    at: at.toISOString(),
    change_id: id,
    ...(checkId !== null && { check_id: checkId }),
  };
}

function printVerification(run: ToldVerification): z.input<typeof VerificationEvent> {
  const { finishedAt, verdict, found, asked, message } = run;
  return { finished_at: finishedAt.toISOString(), verdict, found, asked, message };
}

function printNodes({ changeId, inSync, nodes, ms }: NodesState): z.input<typeof NodesEvent> {
  return { change_id: changeId, in_sync: inSync, ...nodes, ...(ms !== undefined && { ms }) };
}

const RETRY_SECONDS = 10;

export const followDomain = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/events',
  operationId: 'followDomain',
  tag: 'Domains',
  summary: 'Streams the events of a domain.',
  description:
    'Server-sent events: `check` and `verification` when one has ended, `change` and `status` when the domain was changed, `nodes` with the number of nameservers that have loaded the newest change, `progress` during a check that was requested, and `reset` if events were missed, so that the client must read everything again. The stream continues after the `Last-Event-ID` of the request, or after `after`. It ends if the credential or the role changes, if the client does not read it, and when this process stops. Then call again. A session, key or token may have 4 streams, and an account 20.',
  follows: true,
  query: z.object({
    after: z
      .string()
      .max(MAX_CURSOR_CHARACTERS)
      .optional()
      .describe('The id of the last known event, if the request has no `Last-Event-ID`.'),
    once: booleanText.optional().describe('If true, the stream ends after the missed events.'),
  }),
  response: z.string(),
  textResponse: 'text/event-stream',
  answerHeaders: ['X-Accel-Buffering'],
  problems: ['rate_limited'],
  async run(call) {
    const { api, caller, domain, following, gone } = call;
    const { credential, account } = caller;
    const { eventFeed } = api;
    if (eventFeed === undefined || following === undefined)
      return unavailable('this process does not stream events', 60);
    const id = credential.kind === 'session' ? credential.session.id : credential.id;
    const follower = eventFeed.join({
      domainId: domain.id,
      holder: `${credential.kind}:${id}`,
      accountId: account.id,
      judge: following.judge,
    });
    if (follower === 'process') return unavailable('too many event streams; try again', RETRY_SECONDS);
    if (follower === 'holder' || follower === 'account') return tooMany(follower);
    const { after, once = false } = call.query;
    call.answerHeader('X-Accel-Buffering', 'no');
    const printer = eventPrinter(domain.myRole, account);
    const stream = streamEvents(eventFeed, follower, {
      after: following.lastEventId ?? after,
      gone,
      printer,
      once,
    });
    return new StreamedLines(stream, follower.leave);
  },
});

function tooMany(whose: 'holder' | 'account'): Problem {
  const who = whose === 'account' ? 'your account' : 'this session or key';
  return new Problem(PROBLEM_CODES.rate_limited, `${who} has too many event streams; close one first`, {
    code: 'rate_limited',
    headers: { 'Retry-After': String(RETRY_SECONDS) },
  });
}

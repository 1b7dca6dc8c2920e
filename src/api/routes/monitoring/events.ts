// `GET /domains/{domain}/events`: streams the events of a domain.

import { z } from 'zod';
import { MAX_CURSOR_CHARACTERS } from '../../../store/events/event-cursor.ts';
import { PROBLEM_CODES, Problem, unavailable } from '../../answers/problem.ts';
import { StreamedLines } from '../../answers/stream-lines.ts';
import { domain, route } from '../../calls/route.ts';
import { streamEvents } from '../../events/domain-stream.ts';
import { eventPrinter } from '../../print/events/print-event.ts';
import { booleanText } from '../../schemas/query-text.ts';

const RETRY_SECONDS = 10;

export const followDomain = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/events',
  operationId: 'followDomain',
  tag: 'Domains',
  summary: 'Streams the events of a domain.',
  description:
    'Server-sent events: `check` and `verification` when one ended, `change` and `status` when the domain was changed, `nodes` with how many nameservers have the newest change, `progress` while a check is made that somebody asked for, and `reset` where something was missed, so that everything is to be read again. It goes on from the `Last-Event-ID` of the request, or from `after`. It ends when the credential or the role is another, when it is not read, and when this process stops: ask again. A session, a key or a token may have 4 streams, an account 20.',
  follows: true,
  query: z.object({
    after: z
      .string()
      .max(MAX_CURSOR_CHARACTERS)
      .optional()
      .describe('The id of the last event that is known, where the request has no `Last-Event-ID`.'),
    once: booleanText.optional().describe('`true`: tells what was missed, and ends.'),
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
      return unavailable('this service does not stream events', 60);
    const id = credential.kind === 'session' ? credential.session.id : credential.id;
    const follower = eventFeed.join({
      domainId: domain.id,
      holder: `${credential.kind}:${id}`,
      accountId: account.id,
      judge: following.judge,
    });
    if (follower === 'process')
      return unavailable('too many streams of events here; try again', RETRY_SECONDS);
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
  return new Problem(PROBLEM_CODES.rate_limited, `${who} has too many streams of events; end one first`, {
    code: 'rate_limited',
    headers: { 'Retry-After': String(RETRY_SECONDS) },
  });
}

// /users/me/sessions: lists and ends the sessions of an account.

import { z } from 'zod';
import { endOtherSessions, endSession, listSessions } from '../../../store/people/sessions.ts';
import { notFound } from '../../answers/problem.ts';
import { route, session } from '../../calls/route.ts';
import { isSessionValid, sessionEndsAt } from '../../people/judge-session.ts';
import { idText } from '../../schemas/ids.ts';
import { Message } from '../../schemas/message.ts';
import { SessionItem } from '../../schemas/people.ts';

export const listOwnSessions = route(session(), {
  method: 'GET',
  path: '/users/me/sessions',
  operationId: 'listSessions',
  tag: 'Your account',
  summary: 'Your sessions, newest first.',
  response: z.array(SessionItem),
  async run({ api, caller }) {
    const { account, credential } = caller;
    const sessions = await listSessions(api.db, account.id);
    return sessions
      .filter((session) => isSessionValid(session, account, session.now))
      .map((session) => ({
        id: session.id,
        current: session.id === credential.session.id,
        bearer: session.carrier === 'bearer',
        ...(session.address !== null && { address: session.address }),
        ...(session.userAgent !== null && { user_agent: session.userAgent }),
        created_at: session.createdAt.toISOString(),
        used_at: session.usedAt.toISOString(),
        expires_at: sessionEndsAt(session, account).toISOString(),
      }));
  },
});

export const endOneSession = route(session(), {
  method: 'DELETE',
  path: '/users/me/sessions/{id}',
  operationId: 'endSession',
  audit: 'session.end',
  tag: 'Your account',
  summary: 'End a session.',
  params: z.object({ id: idText }),
  response: Message,
  async run({ api, caller, params, audit }) {
    const isEnded = await endSession(api.db, caller.account.id, params.id);
    if (!isEnded) return notFound('session');
    audit({ before: { session: params.id } });
    return { message: 'the session has ended' };
  },
});

export const endSessions = route(session(), {
  method: 'DELETE',
  path: '/users/me/sessions',
  operationId: 'endOtherSessions',
  audit: 'session.end',
  tag: 'Your account',
  summary: 'End all sessions but this one.',
  response: Message,
  async run({ api, caller, audit }) {
    const ended = await endOtherSessions(api.db, caller.account.id, caller.credential.session.id);
    audit(ended === 0 ? undefined : { before: { ended } });
    return { message: `ended ${ended} sessions` };
  },
});

// Events of a domain as its stream tells them: frames of server-sent events (HTML "Server-sent events").

import type { z } from 'zod';
import { encodeEventCursor } from '../../../store/events/event-cursor.ts';
import type { ToldChange, ToldVerification } from '../../../store/events/load-events.ts';
import type { Role } from '../../../store/postgres/tables/schema.ts';
import { mayDo } from '../../callers/permissions.ts';
import type { EventPrinter } from '../../events/domain-stream.ts';
import type { DomainEvent, NodesState } from '../../events/domain-watch.ts';
import type { ChangeEvent, NodesEvent, StatusEvent, VerificationEvent } from '../../schemas/events/event.ts';
import { mayTrace, printActor, type Viewer } from '../print-actor.ts';
import { publicSource } from '../print-change.ts';
import { printCheck } from '../print-check.ts';

/** How long a browser waits before it comes again. */
const RETRY_MS = 2000;

/** `role`: whoever does not manage the domain's members is not told from where something was done. */
export function eventPrinter(role: Role, viewer: Viewer): EventPrinter {
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
      const told = frame('change', printChange(change, isTraced(change)), id);
      // Who breaks off between the two gets both again.
      return status === undefined ? told : `${frame('status', status)}${told}`;
    }
    case 'reset':
      return frame('reset', { cursor: id }, id);
    default:
      return event satisfies never;
  }
}

/** JSON has no line break. */
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

// Tells the API processes how far a check is that somebody waits for: at most a few times a second, and only a bounded part of what
// it saw. The result itself has everything.

import type { ServerEvidence, WalkedZone } from '../checks/delegation/evidence.ts';
import type { Seen } from '../resolver/resolver.ts';
import { announceProgress } from '../store/postgres/announce-changes.ts';
import type { Database } from '../store/postgres/database.ts';
import { printWithoutDot } from '../zone/name-text.ts';

const INTERVAL_MS = 200;
/** A check ends within a minute; whoever makes it longer is told no more. */
const MOST_MESSAGES = 100;
const MOST_ZONES = 8;
const MOST_SERVERS = 16;

interface Progress {
  /** Never throws. */
  readonly step: (seen: Seen) => void;
  /** The result is there, or will be: nothing more is told. */
  end(): void;
}

export function tellProgress(db: Database, domainId: number): Progress {
  let newest: Seen | undefined;
  let isWaiting = false;
  let sent = 0;
  const send = () => {
    if (newest === undefined || sent >= MOST_MESSAGES) return;
    const seen = newest;
    newest = undefined;
    isWaiting = true;
    sent++;
    void announceProgress(db, { domain_id: domainId, ...printSeen(seen) }).then(() => {
      setTimeout(() => {
        isWaiting = false;
        send();
      }, INTERVAL_MS).unref();
    });
  };
  return {
    step(seen) {
      newest = { walk: seen.walk, servers: [...seen.servers] };
      if (!isWaiting) send();
    },
    end() {
      newest = undefined;
      sent = MOST_MESSAGES;
    },
  };
}

function printSeen({ walk, servers }: Seen): object {
  return {
    walk: walk.slice(-MOST_ZONES).map(printZone),
    servers: servers.slice(0, MOST_SERVERS).map(printServer),
  };
}

function printZone({ zone, servers, cached }: WalkedZone): object {
  return { zone: printWithoutDot(zone), servers: servers.length, cached };
}

function printServer({ server, address, outcome, rttMs }: ServerEvidence): object {
  return {
    server: printWithoutDot(server),
    ...(address !== '' && { address }),
    outcome,
    ...(rttMs !== undefined && { rtt_ms: rttMs }),
  };
}

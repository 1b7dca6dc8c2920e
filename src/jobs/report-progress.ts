// Reports the progress of a check to the API processes while a caller waits for it. At most a few times per second,
// and only a limited part of the evidence. The result itself is complete.

import type { ServerEvidence, WalkedZone } from '../checks/delegation/evidence.ts';
import type { Seen } from '../resolver/resolver.ts';
import { announceProgress } from '../store/postgres/announce-changes.ts';
import type { Database } from '../store/postgres/database.ts';
import { printWithoutDot } from '../zone/name-text.ts';

const INTERVAL_MS = 200;
/** A check ends within a minute. A longer one is no longer reported. */
const MOST_MESSAGES = 100;
const MOST_ZONES = 8;
const MOST_SERVERS = 16;

interface Progress {
  /** Never throws. */
  readonly step: (seen: Seen) => void;
  /** Stops reporting, because the result is available or will be. */
  end(): void;
}

export function reportProgress(db: Database, domainId: number): Progress {
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

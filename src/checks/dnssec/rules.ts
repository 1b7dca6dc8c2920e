// Waits of the key machine. Only the age of backups is a setting. Proofs replace the waits to see what breaks.

export interface MachineRules {
  /** Maximum age of the newest backup (KEY_BACKUP_AFTER). Newer data may be lost, and older data may come back. */
  readonly backupAfterMs: number;
  /** How long a DS must be absent before its key is removed, since parents lag and registrars revert changes. */
  readonly stayMs: number;
  /** Added to the TTL of data that nodes served, for their lag and for clock differences. */
  readonly nodeSlackMs: number;
  /** Added to the TTL of data that the parent showed: unseen servers of an anycast address lag by up to a day. */
  readonly parentSlackMs: number;
  /** A node that has been silent for this long serves no valid signature: signatures live 16 days. */
  readonly silentNodeMs: number;
  /** An address of the parent that has not answered for this long does not count. */
  readonly silentAddressMs: number;
  /** Maximum fraction of the parent's addresses that may be ignored while the others decide. */
  readonly silentShare: number;
  /** Time between the first and the last observation of the same state. */
  readonly apartMs: number;
  /** A longer gap between observations restarts a stay, because the DS sets shown meanwhile are unknown. */
  readonly gapMs: number;
  /** Maximum age of the observation or preflight that a step relies on. */
  readonly freshMs: number;
  /** Added to the TTL of the NS set once the parent shows ours: resolvers query the previous servers for this long. */
  readonly oldServersMs: number;
  /** A clock that goes back by this much restarts all waits. */
  readonly clockBackMs: number;
  /** TTL of our DNSKEY, CDS and CDNSKEY sets in seconds. */
  readonly keyTtl: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** A clock that is wrong by up to two hours in either direction makes a wait appear up to four hours longer than it was. */
const CLOCK_ERROR_MS = 4 * HOUR_MS;

export const RULES: MachineRules = {
  backupAfterMs: DAY_MS,
  stayMs: 7 * DAY_MS,
  nodeSlackMs: 10 * MINUTE_MS + CLOCK_ERROR_MS,
  parentSlackMs: DAY_MS + HOUR_MS + CLOCK_ERROR_MS,
  silentNodeMs: 18 * DAY_MS,
  silentAddressMs: 7 * DAY_MS,
  silentShare: 1 / 4,
  apartMs: HOUR_MS,
  gapMs: DAY_MS,
  freshMs: 2 * HOUR_MS,
  oldServersMs: DAY_MS + CLOCK_ERROR_MS,
  clockBackMs: HOUR_MS,
  keyTtl: 3600,
};

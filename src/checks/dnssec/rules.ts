// The waits of the key machine. None is a setting but the age of backups. Proofs replace them to see what breaks.

export interface MachineRules {
  /** How old the newest backup is at most (KEY_BACKUP_AFTER): what is younger may be lost, and what was before may come back. */
  readonly backupAfterMs: number;
  /** How long a DS must be gone before its key goes: parents lag, and registrars roll back. */
  readonly stayMs: number;
  /** Added to the TTL of what nodes served: their own lag, and our clocks. */
  readonly nodeSlackMs: number;
  /** Added to the TTL of what the parent showed: servers of an anycast address that we do not see lag by up to a day. */
  readonly parentSlackMs: number;
  /** A node that was silent for so long serves no signature that is still valid: they live 16 days. */
  readonly silentNodeMs: number;
  /** An address of the parent that never answered for so long does not count. */
  readonly silentAddressMs: number;
  /** Of the addresses of the parent, while the others decide. */
  readonly silentShare: number;
  /** Between the first and the last observation that show the same. */
  readonly apartMs: number;
  /** A longer gap between observations begins a stay again: what was shown meanwhile is not known. */
  readonly gapMs: number;
  /** How old the observation or preflight may be that a step relies on. */
  readonly freshMs: number;
  /** Added to the TTL of the NS set since the parent shows ours: servers of before are asked so long, for sets of a day. */
  readonly oldServersMs: number;
  /** A clock that goes back so far makes all waits begin again. */
  readonly clockBackMs: number;
  /** TTL of our DNSKEY, CDS and CDNSKEY sets in seconds. */
  readonly keyTtl: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** A clock that is up to two hours off, either way, makes a wait look up to four hours longer than it was. */
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

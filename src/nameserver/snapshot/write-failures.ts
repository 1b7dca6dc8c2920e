// The counts of failed writes of the snapshot. The main thread reads them too, so this module does not load the code that writes.

/** Number of failed writes of the snapshot: because the disk was full, or for another reason. */
export interface WriteFailures {
  disk_full: number;
  other: number;
}

export function noWriteFailures(): WriteFailures {
  return { disk_full: 0, other: 0 };
}

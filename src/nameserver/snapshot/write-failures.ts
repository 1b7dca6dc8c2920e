// Counts of failed writes of the snapshot, in a module of their own: the main thread reads them without loading the
// code that writes.

/** Number of failed writes of the snapshot, because the disk was full or for another reason. */
export interface WriteFailures {
  disk_full: number;
  other: number;
}

export function noWriteFailures(): WriteFailures {
  return { disk_full: 0, other: 0 };
}

// Reports a fault in an image. The first fault ends the check.

export class UnsoundImage extends Error {}

/** Throws `UnsoundImage` with this fault unless `isSound`. */
export function demand(isSound: boolean, fault: string): asserts isSound {
  if (!isSound) throw new UnsoundImage(fault);
}

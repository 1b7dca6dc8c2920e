// How the checks of an image report a fault: the first one ends the check.

export class UnsoundImage extends Error {}

/** Throws `UnsoundImage` unless the image is sound here. */
export function demand(isSound: boolean, fault: string): asserts isSound {
  if (!isSound) throw new UnsoundImage(fault);
}

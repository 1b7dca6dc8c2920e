// Maps the id of a zone's row in Postgres to the reference of the zone's root in the image. Uses typed arrays: a node
// may have a million zones, and a Map of objects takes ten times the memory.

const FIRST_CAPACITY = 1024;
const EMPTY = 0;

/** Open addressing with linear probing. Ids are safe integers above 0, and references are above 0. */
export class ZoneIds {
  #ids = new Float64Array(FIRST_CAPACITY);
  #refs = new Int32Array(FIRST_CAPACITY);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns the reference of a zone, or 0 if it is unknown. */
  get(id: number): number {
    return this.#refs[this.#find(id)] as number;
  }

  set(id: number, ref: number): void {
    if ((this.#size + 1) * 2 > this.#ids.length) this.#grow();
    const at = this.#find(id);
    if (this.#ids[at] === EMPTY) this.#size++;
    this.#ids[at] = id;
    this.#refs[at] = ref;
  }

  delete(id: number): void {
    let hole = this.#find(id);
    if (this.#ids[hole] === EMPTY) return;
    this.#size--;
    // Moves entries after the hole that were displaced past it, so that no search ends early.
    const mask = this.#ids.length - 1;
    for (let at = (hole + 1) & mask; this.#ids[at] !== EMPTY; at = (at + 1) & mask) {
      const home = this.#home(this.#ids[at] as number);
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      this.#ids[hole] = this.#ids[at] as number;
      this.#refs[hole] = this.#refs[at] as number;
      hole = at;
    }
    this.#ids[hole] = EMPTY;
    this.#refs[hole] = 0;
  }

  clear(): void {
    this.#ids = new Float64Array(FIRST_CAPACITY);
    this.#refs = new Int32Array(FIRST_CAPACITY);
    this.#size = 0;
  }

  *ids(): Generator<number> {
    for (const id of this.#ids) if (id !== EMPTY) yield id;
  }

  /** Returns the index of the id, or the empty slot for it. */
  #find(id: number): number {
    const mask = this.#ids.length - 1;
    let at = this.#home(id);
    while (this.#ids[at] !== id && this.#ids[at] !== EMPTY) at = (at + 1) & mask;
    return at;
  }

  #home(id: number): number {
    const folded = (id >>> 0) ^ Math.imul(Math.floor(id / 0x100000000), 0x85ebca6b);
    const mixed = Math.imul(folded, 0x9e3779b1);
    return (mixed ^ (mixed >>> 15)) & (this.#ids.length - 1);
  }

  #grow(): void {
    const [ids, refs] = [this.#ids, this.#refs];
    this.#ids = new Float64Array(ids.length * 2);
    this.#refs = new Int32Array(ids.length * 2);
    for (let i = 0; i < ids.length; i++) {
      if (ids[i] === EMPTY) continue;
      const at = this.#find(ids[i] as number);
      this.#ids[at] = ids[i] as number;
      this.#refs[at] = refs[i] as number;
    }
  }
}

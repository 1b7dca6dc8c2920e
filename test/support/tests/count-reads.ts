// Counts how often a parser reads its text. The count grows with the work and not with the load of the machine, so it
// distinguishes linear from quadratic work.

/**
 * Returns the number of characters that `work` reads one by one or searches with a regular expression that has a
 * `lastIndex`.
 */
export function countReads(work: () => void): number {
  const { charCodeAt } = String.prototype;
  const { exec } = RegExp.prototype;
  let reads = 0;
  String.prototype.charCodeAt = function (this: string, at: number) {
    reads++;
    return charCodeAt.call(this, at);
  };
  RegExp.prototype.exec = function (this: RegExp, text: string) {
    const from = this.lastIndex;
    const found = exec.call(this, text);
    if (this.global || this.sticky) reads += (found?.index ?? String(text).length) - from;
    return found;
  };
  try {
    work();
  } finally {
    String.prototype.charCodeAt = charCodeAt;
    RegExp.prototype.exec = exec;
  }
  return reads;
}

export function watchReads<T extends object>(target: T, onRead: () => void): T {
  return new Proxy(target, {
    get(object, key) {
      onRead();
      const value: unknown = Reflect.get(object, key, object);
      return typeof value === 'function' ? value.bind(object) : value;
    },
  });
}

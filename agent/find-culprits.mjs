// @ts-check
// Which rules are to blame when nginx refuses a domain's file: the others go on without them.

/** Each try is a run of nginx. */
const MAX_TRIES = 32;

/**
 * Takes as many rules as nginx takes together, halving what it refuses. Where the tries are used up, a part that was refused
 * stays out as a whole.
 * @template R
 * @param {readonly R[]} rules in their order
 * @param {(rules: readonly R[]) => Promise<boolean>} isTaken
 * @returns {Promise<R[] | undefined>} those to blame; undefined: also without any rule it is refused
 */
export async function findCulprits(rules, isTaken) {
  if (!(await isTaken([]))) return undefined;
  let tries = MAX_TRIES;
  /** @type {Set<R>} */
  const good = new Set();
  const look = async (/** @type {readonly R[]} */ part, isRefused = false) => {
    if (part.length === 0 || tries <= 0) return;
    if (!isRefused) {
      tries--;
      const tried = new Set([...good, ...part]);
      if (await isTaken(rules.filter((rule) => tried.has(rule)))) {
        for (const rule of part) good.add(rule);
        return;
      }
    }
    if (part.length === 1) return;
    const middle = Math.ceil(part.length / 2);
    const first = part.slice(0, middle);
    await look(first);
    // With the first half alright, it is the second that was refused.
    await look(
      part.slice(middle),
      first.every((rule) => good.has(rule)),
    );
  };
  await look(rules);
  return rules.filter((rule) => !good.has(rule));
}

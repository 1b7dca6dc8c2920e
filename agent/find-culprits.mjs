// @ts-check
// Finds the rules at fault if nginx rejects a domain's file, so that the others still apply.

/** Maximum number of attempts, each of which runs nginx. */
const MAX_TRIES = 32;

/**
 * Accepts as many rules as nginx accepts together, by bisection. When the attempts are used up, a rejected part is left out completely.
 * @template R
 * @param {readonly R[]} rules in their order
 * @param {(rules: readonly R[]) => Promise<boolean>} isTaken
 * @returns {Promise<R[] | undefined>} the rules at fault; undefined if nginx rejects the file without any rule, too
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
    // The first half was accepted, so the second was rejected.
    await look(
      part.slice(middle),
      first.every((rule) => good.has(rule)),
    );
  };
  await look(rules);
  return rules.filter((rule) => !good.has(rule));
}

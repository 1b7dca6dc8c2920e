/** Path below which the console is served. */
export const BASE = '/console';

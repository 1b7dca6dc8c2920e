// The types of make-dashboards.mjs.

/** Returns the text of each dashboard's file by the file's name. */
export function dashboardTexts(): Record<string, string>;

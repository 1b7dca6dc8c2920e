// @ts-check
// Prints the core rule set for modsecurity. The file is shared by all domains and has no text from customers: the settings of a rule are
// in the transaction id (`zf-p2t5-x942100-…`), where these rules read them.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { whole } from './quote.mjs';

/** @typedef {Extract<import('../../src/edge/edge-rule.ts').EdgeRule, { type: 'waf' }>} WafRule */

/** Files that check requests, without reputation and counting, which require a database. */
const FILE = /^REQUEST-9(?:01|05|11|13|20|21|22|30|31|32|33|34|41|42|43|44|49)-.*\.conf$/;
/** Files that detect attacks; the others are the rule set's framework. */
const FINDING = /^9(?:1[1-9]|[234]\d)\d{3}$/;

/** @param {string} folder of modsecurity-crs */
export function readCoreRules(folder) {
  const files = readdirSync(folder)
    .filter((name) => FILE.test(name))
    .sort();
  const ids = new Set();
  for (const file of files) {
    for (const [, id = ''] of readFileSync(join(folder, file), 'utf8').matchAll(/\bid:(\d{6})\b/g)) {
      if (FINDING.test(id) && !id.startsWith('949')) ids.add(id);
    }
  }
  return { files: files.map((name) => join(folder, name)), ids: /** @type {Set<string>} */ (ids) };
}

/** @param {ReturnType<typeof readCoreRules>} rules */
export function printCoreRules({ files, ids }) {
  const excludes = [...ids].map(
    (id, i) =>
      `SecRule UNIQUE_ID "@contains -x${id}-" "id:${1_000 + i},phase:1,pass,nolog,ctl:ruleRemoveById=${id}"\n`,
  );
  return `SecRuleEngine On
SecRequestBodyAccess On
SecResponseBodyAccess Off
SecRequestBodyLimit 1048576
SecRequestBodyNoFilesLimit 1048576
SecRequestBodyLimitAction ProcessPartial
SecRequestBodyJsonDepthLimit 128
SecArgumentsLimit 1000
SecPcreMatchLimit 100000
SecPcreMatchLimitRecursion 100000
SecAuditEngine Off
SecDefaultAction "phase:1,log,noauditlog,pass"
SecDefaultAction "phase:2,log,noauditlog,pass"
SecAction "id:900990,phase:1,nolog,pass,t:none,setvar:tx.crs_setup_version=334"
SecRule UNIQUE_ID "@rx ^zf-p([1-4])t([0-9]+)-" "id:900,phase:1,pass,nolog,capture,setvar:tx.paranoia_level=%{TX.1},setvar:tx.inbound_anomaly_score_threshold=%{TX.2}"
SecRule UNIQUE_ID "@beginsWith zf-off-" "id:901,phase:1,pass,nolog,ctl:ruleEngine=Off"
SecRule UNIQUE_ID "@contains -dry-" "id:902,phase:1,pass,nolog,ctl:ruleEngine=DetectionOnly"
SecRule REQUEST_HEADERS:Content-Type "^(?:application(?:/soap\\+|/)|text/)xml" "id:904,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=XML"
SecRule REQUEST_HEADERS:Content-Type "^application/json" "id:905,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=JSON"
${excludes.join('')}${files.map((file) => `Include ${file}\n`).join('')}`;
}

/**
 * Returns the settings of a rule as the beginning of a transaction id.
 * @param {WafRule} rule
 * @param {ReadonlySet<string>} ids of the core rule set
 */
export function profileOf(rule, ids) {
  const paranoia = whole(rule.paranoia, 1, 4);
  const threshold = whole(rule.threshold, 1, 100);
  const excluded = rule.rule_excludes.filter((id) => ids.has(id)).map((id) => `x${id}-`);
  const dry = rule.action_mode === 'dry_run' ? 'dry-' : '';
  return `p${paranoia}t${threshold}-${dry}r${whole(rule.id, 1, Number.MAX_SAFE_INTEGER)}-${excluded.join('')}`;
}

/** Rules of a host share one location, so the largest limit applies. @param {readonly WafRule[]} rules */
export function bodyLimitOf(rules) {
  return Math.max(...rules.map(({ body_cap_kb }) => whole(body_cap_kb, 1, 1_024))) * 1_024;
}

// The settings that a caller may pass with a statement, in the form of the engine's SETTINGS clause.

import { quote } from './bind-values.ts';
import { Refusal } from './refusal.ts';

const NUMBERS = new Set([
  'max_execution_time',
  'max_result_rows',
  'max_result_bytes',
  'max_memory_usage',
  'max_threads',
  'max_bytes_before_external_group_by',
  'max_bytes_before_external_sort',
  'output_format_json_quote_64bit_integers',
  'insert_deduplicate',
  'deduplicate_blocks_in_dependent_materialized_views',
  'input_format_parallel_parsing',
  'input_format_skip_unknown_fields',
  'max_insert_block_size',
  'max_insert_threads',
  'max_partitions_per_insert_block',
  'throw_on_max_partitions_per_insert_block',
  'async_insert',
]);
const WORDS = new Set(['result_overflow_mode', 'timeout_overflow_mode', 'date_time_input_format']);
/** Any text is allowed. */
const TEXTS = new Set(['insert_deduplication_token']);
/** Settings of a server's HTTP interface that have no effect here. */
const IGNORED =
  /^(query|query_id|database|default_format|wait_end_of_query|enable_http_compression|send_progress_in_http_headers|http_\w+|user|password|role|param_\w+)$/;

const LONGEST_SECONDS = 3600;
/** Limits for callers that specify none. */
const DEFAULTS: Readonly<Record<string, string>> = { max_execution_time: '60' };

export function judgeSettings(given: Iterable<readonly [string, string]>, isRead: boolean): string {
  const settings: Record<string, string> = { ...DEFAULTS };
  for (const [name, value] of given) {
    if (IGNORED.test(name)) continue;
    settings[name] = judge(name, value);
  }
  if (Number(settings.max_execution_time) <= 0 || Number(settings.max_execution_time) > LONGEST_SECONDS)
    throw new Refusal('UNKNOWN_SETTING', `max_execution_time must be 1 to ${LONGEST_SECONDS}`);
  const named = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  return `SETTINGS ${[...(isRead ? ['readonly = 1'] : []), ...named].join(', ')}`;
}

function judge(name: string, value: string): string {
  if (NUMBERS.has(name) && /^\d{1,18}$/.test(value)) return value;
  if (WORDS.has(name) && /^[a-z_]{1,40}$/.test(value)) return quote(value);
  if (TEXTS.has(name) && value.length <= 200) return quote(value);
  throw new Refusal('UNKNOWN_SETTING', `setting ${name.slice(0, 60)} is not allowed with this value`);
}

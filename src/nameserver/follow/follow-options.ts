// Options and result of following the change feed.

import type { Log } from '../../process/reconnect.ts';
import type { NodeReport } from '../../store/feed/nodes.ts';
import type { ZoneCounts } from '../counts/zone-counts.ts';
import type { AskedMarks } from '../image/find/asked-marks.ts';
import type { ImageWriter } from '../image/write-image.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { FeedPlace } from '../snapshot/snapshot-entry.ts';
import type { ImageProgress } from '../threads/image-progress.ts';
import type { ChangedZone } from '../transfer/messages.ts';
import type { FollowState } from './follow-state.ts';
import type { FollowedEdgeSets } from './followed-edge-sets.ts';

export interface FollowOptions {
  /** The primary, which receives the reports of this node. */
  databaseUrl: string;
  /** URL of the server that provides the feed and the zones; it may be a standby. Defaults to the primary. */
  readUrl?: string;
  nodeName: string;
  version?: string;
  log: Log;
  /** Writes the zones into the image. It must be the only writer. */
  writer: ImageWriter;
  /** The unproven zones that received queries, as recorded by the threads that answer. */
  asked?: AskedMarks;
  /** The counts by zone of the threads that answer. */
  zoneCounts?: readonly ZoneCounts[];
  /** Returns the totals of the threads that answer, for the reports. */
  traffic?: () => NodeReport['traffic'];
  /** The snapshot to keep up to date. */
  snapshot?: Snapshot;
  /** The position in the feed that the image has reached. */
  place?: FeedPlace | undefined;
  /** Resolves when the image may be written to. By default, immediately. */
  checked?: Promise<void> | undefined;
  /** True if the node's name still belongs to the process that this one replaces. */
  isSuccessor?: boolean;
  /** Keeps the edge sets of regions. */
  edgeSets?: FollowedEdgeSets;
  /** Records the progress of work on the image. */
  progress?: ImageProgress;
  /**
   * Called with each zone whose served content has changed since the snapshot was written or, without a snapshot, since
   * all zones were loaded.
   */
  onServed?: (zone: ChangedZone) => void;
  /** Called when `state()` may have changed. */
  onState?: () => void;
  /** Called at the start when the primary answers. It then reports whether the node name is free. */
  onReached?: () => void;
}

export interface Following {
  state(): FollowState;
  stop(): Promise<void>;
}

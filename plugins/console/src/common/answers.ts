import type { ShapeOf } from '../../../../src/json/open-api.ts';
import type { SQL_AVAILABLE, SQL_LOGIN, SQL_RESULT } from '../../../../src/operate/console/console-answers.ts';
import type {
  DEAD_LETTERS,
  PREVIEWED_DEAD_LETTERS,
  REPLAYS,
} from '../../../../src/operate/dead-letters/dead-letter-answers.ts';
import type { CLUSTER } from '../../../../src/operate/drain/cluster-answers.ts';
import type { CONNECTOR_HEALTH } from '../../../../src/operate/health/health-answers.ts';
import type { PREVIEW } from '../../../../src/operate/preview/preview-answers.ts';
import type { CONFIG_KEY_INFO, CONNECTOR_OFFSETS, OFFSETS_PREVIEW, PLUGIN_INFO } from '../../../../src/rest/answers.ts';

/**
 * Types of the worker's responses, as its schemas declare them. This is the only file of the console that imports from the worker, and it
 * imports only types, so that no code of the worker is sent to browsers.
 */

export type {
  ConnectionFindings,
  ConnectorDatabase,
  ConnectorLevel,
  ConsoleValidation,
  DeletedConnectors,
  FleetNews,
  FleetSnapshot,
  InternalTopicsAnswer,
  LogPart,
  RestorePreview,
  SourceTables,
  SqlFailure,
  StoredConfig,
  Topics,
  WorkerDetail,
  WrittenTopicsAnswer,
} from '../../../../src/operate/console/console-answers.ts';
export type {
  PreviewedDeadLetter,
  ReplayAnswer,
  WholeDeadLetter,
} from '../../../../src/operate/dead-letters/dead-letter-answers.ts';
export type { GroupWorkerAnswer } from '../../../../src/operate/drain/cluster-answers.ts';
export type { FleetRow, WorkerFlow, WorkerHistory } from '../../../../src/operate/fleet/fleet-answers.ts';
export type { ConnectorChangeAnswer, KeyDifference } from '../../../../src/operate/history/history-answers.ts';
export type { MessagePage, ShownMessage, ShownPart } from '../../../../src/operate/messages/message-answers.ts';
export type { PreviewedRecord } from '../../../../src/operate/preview/preview-answers.ts';
export type { ConnectorStateAnswer, LoggerLevelAnswer } from '../../../../src/rest/answers.ts';

export type ClusterAnswer = ShapeOf<typeof CLUSTER>;
export type DeadLetters = ShapeOf<typeof DEAD_LETTERS>;
export type DeadLetterGroup = DeadLetters['groups'][number];
export type PreviewedDeadLettersAnswer = ShapeOf<typeof PREVIEWED_DEAD_LETTERS>;
export type Replays = ShapeOf<typeof REPLAYS>;
export type Health = ShapeOf<typeof CONNECTOR_HEALTH>;
export type TaskFigures = Health['tasks'][number];
export type Restart = Health['restarts'][number];
export type Preview = ShapeOf<typeof PREVIEW>;
export type PluginInfo = ShapeOf<typeof PLUGIN_INFO>;
export type ConfigKeyInfo = ShapeOf<typeof CONFIG_KEY_INFO>;
export type ConnectorOffsets = ShapeOf<typeof CONNECTOR_OFFSETS>;
export type OffsetsPreview = ShapeOf<typeof OFFSETS_PREVIEW>;
export type SqlAvailable = ShapeOf<typeof SQL_AVAILABLE>;
export type SqlLogin = ShapeOf<typeof SQL_LOGIN>;
export type SqlAnswer = ShapeOf<typeof SQL_RESULT>;

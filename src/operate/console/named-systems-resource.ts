import type { Herder } from '../../herder/herder.ts';
import type { ConnectorValidation } from '../../herder/validation.ts';
import { RequestError, toError } from '../../errors.ts';
import { StageTracker } from '../../observe/stage.ts';
import { goneSignal } from '../../rest/client-gone.ts';
import { readConfig } from '../../rest/request-body.ts';
import {
  answer,
  answerText,
  pathName,
  queryText,
  withinTimeLimit,
  type Context,
  type Route,
} from '../../rest/resource.ts';
import { hiddenInJson } from '../preview/hidden-json.ts';
import { completing, hiding, requireGiven, requireStored, withheldFrom, type Completed } from './completed-config.ts';
import {
  CONNECTION_FINDINGS,
  SOURCE_TABLES,
  TOPICS,
  WRITTEN_TOPICS,
  type SourceTables,
  type Topics,
} from './console-answers.ts';
import type { WrittenTopics } from './written-topics.ts';

/** Maximum number of topics in an answer. */
const MAX_TOPICS = 200;
/** Maximum number of tables in an answer. */
const MAX_TABLES = 1000;

interface NamedSystemsParts {
  readonly herder: Herder;
  readonly validation: ConnectorValidation;
  /** Names of all topics of the cluster. */
  readonly kafkaTopics: () => Promise<readonly string[]>;
  /** Internal topics of the worker. Users cannot select them. */
  readonly internalTopics: readonly string[];
  readonly writtenTopics: WrittenTopics;
  readonly isReadOnly: boolean;
}

/**
 * The systems that a new configuration names, for the form of the console: the tables of a database, whether the
 * connection works, and the topics. Stored secrets are only sent to the address for which they were stored.
 */
export function namedSystemsResource(parts: NamedSystemsParts): readonly Route[] {
  const { herder, validation, kafkaTopics, internalTopics, writtenTopics, isReadOnly } = parts;
  const complete = completing(herder.directory, validation.plugins);

  /** Reads a configuration that may be sent to the systems that it names. `what` needs its secrets. */
  const readGiven = async (context: Context, what: string): Promise<Completed> => {
    const completed = await complete(context, await readConfig(context.req));
    requireGiven(withheldFrom(completed, isReadOnly), what);
    return completed;
  };

  /** Answers with the result of `work`, without secrets. */
  const answerHidden = async (
    context: Context,
    { mask, config }: Completed,
    work: (config: Completed['config'], stage: StageTracker, signal: AbortSignal) => Promise<object>,
  ): Promise<void> => {
    const stage = new StageTracker();
    const asked = work(config, stage, goneSignal(context));
    const found = await hiding(mask, () => withinTimeLimit(stage, asked));
    const hide = (text: string): string => mask.hide(text);
    answerText(context, 200, hiddenInJson(JSON.stringify(found), hide));
  };

  return [
    {
      method: 'PUT',
      path: '/ui/connector-plugins/:plugin/tables',
      answers: { 200: SOURCE_TABLES },
      handle: async (context) => {
        const completed = await readGiven(context, 'list the tables');
        const stage = new StageTracker();
        const work = sourceTables(validation, pathName(context, 'plugin'), completed.config, stage);
        const all = await hiding(completed.mask, () => withinTimeLimit(stage, work));
        const tables: SourceTables = { tables: all.slice(0, MAX_TABLES), total: all.length };
        answer(context, 200, tables);
      },
    },
    // Examines the systems that the configuration names, under the same rules as `…/validate`.
    {
      method: 'PUT',
      path: '/ui/connector-plugins/:plugin/connection',
      answers: { 200: CONNECTION_FINDINGS },
      handle: async (context) => {
        const completed = await readGiven(context, 'check the connection');
        requireStored(completed.missing);
        await answerHidden(context, completed, async (config, stage, signal) => ({
          findings: await validation.diagnose(pathName(context, 'plugin'), config, stage, signal),
        }));
      },
    },
    // The topics that a source with this configuration would write. The plugin derives them from the tables.
    {
      method: 'PUT',
      path: '/ui/connector-plugins/:plugin/topics',
      answers: { 200: WRITTEN_TOPICS },
      handle: async (context) => {
        const completed = await readGiven(context, 'find the topics');
        requireStored(completed.missing);
        await answerHidden(context, completed, async (config, stage, signal) => {
          const names: string[] = [];
          const note = (topics: readonly string[]): void => {
            for (const topic of topics) names.push(topic);
          };
          await validation.diagnose(pathName(context, 'plugin'), config, stage, signal, note);
          return writtenTopics.of(config, names);
        });
      },
    },
    {
      method: 'GET',
      path: '/ui/topics',
      answers: { 200: TOPICS },
      handle: async (context) => {
        const text = (queryText(context, 'text') ?? '').toLowerCase();
        const all = await kafkaTopics();
        const isOffered = (name: string): boolean => !name.startsWith('__') && !internalTopics.includes(name);
        const found = all.filter((name) => isOffered(name) && name.toLowerCase().includes(text)).sort();
        const topics: Topics = { topics: found.slice(0, MAX_TOPICS), total: found.length };
        answer(context, 200, topics);
      },
    },
  ];
}

/** The tables that a source with this connection could read. Options that do not concern the connection may be missing. */
async function sourceTables(
  validation: ConnectorValidation,
  pluginName: string,
  config: Completed['config'],
  stage: StageTracker,
): Promise<SourceTables['tables']> {
  const counts = (option: string): boolean => option.startsWith('connection.');
  const checked = await validation.requireValidFor(pluginName, config, stage, { counts, connects: false });
  const { plugin } = checked;
  if (plugin.type !== 'source' || plugin.listTables === undefined)
    throw new RequestError(404, `${pluginName} does not list tables`);
  const listed = plugin.listTables(checked.config);
  return stage
    .during('listing the tables of the database', () => listed)
    .catch((error: unknown) => {
      throw new RequestError(400, toError(error).message, { cause: error });
    });
}

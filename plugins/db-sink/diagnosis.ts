import {
  fail,
  ok,
  parseOptions,
  warn,
  type ConnectorConfig,
  type DiagnosisContext,
  type Finding,
} from '../../src/index.ts';
import {
  connectionSettings,
  diagnoseDatabase,
  quoteIdentifier,
  quoteTable,
  readCreationPlace,
  readTableRights,
  TableNames,
  tableText,
  type Executor,
  type TableName,
  type TableRight,
  type TableRights,
} from '../database/index.ts';
import { sinkFormat } from './decoders.ts';
import { CONNECTIONS } from './db-sink-task.ts';
import { isExactlyOnce, offsetTableName } from './delivery-options.ts';
import { sinkOptions, type SinkOptions } from './options.ts';
import { refusedByServer } from './server-refusals.ts';
import { growthOf } from './table-options.ts';

/** Number of tables that a message names; the others are only counted. */
const MAX_NAMED = 5;
const ALL: readonly TableRight[] = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

/** Implements `sluice doctor`: checks the database and the privileges of docs/sink.md#rights-of-the-database-user. */
export async function diagnoseSink(config: ConnectorConfig, context: DiagnosisContext): Promise<readonly Finding[]> {
  const options = parseOptions(sinkOptions, config);
  const settings = connectionSettings(options);
  const connections = Number(config['tasks.max'] ?? 1) * CONNECTIONS;
  return diagnoseDatabase(settings, { connections, writes: true }, context, async (executor) => {
    const rights = new SinkRights(executor, settings.user, await readTableRights(executor, context.signal), context);
    const findings = await rights.forTables(options, tablesOf(options, config));
    for (const [option, reason, possible] of await refusedByServer(options, executor)) {
      findings.push(fail(option, reason, `set ${option}=${possible}`));
    }
    if (isExactlyOnce(options)) findings.push(await rights.forTable(offsetTableName(options), ALL, true));
    return findings;
  });
}

/** Returns the tables, if they follow from the configuration alone. */
function tablesOf(options: SinkOptions, { topics, transforms }: ConnectorConfig): readonly TableName[] | undefined {
  if (options['protocol.type'] !== 'struct' || topics === undefined || (transforms ?? '').trim() !== '')
    return undefined;
  const names = new TableNames(options['table.name.format']);
  if (!names.byTopicAlone) return undefined;
  const tables = topics.split(',').map((topic) => names.of({ topic: topic.trim(), value: null }));
  return tables.filter((table) => typeof table !== 'string');
}

function neededRights(options: SinkOptions): readonly TableRight[] {
  const format = sinkFormat(options['protocol.type']);
  const mode = format.insertMode?.(options);
  const deletes = mode !== undefined && options['delete.enabled'];
  const needed: TableRight[] = mode === 'update' ? ['SELECT', 'UPDATE'] : ['INSERT'];
  if (mode === 'upsert') needed.push('SELECT', 'UPDATE');
  if (mode === undefined) needed.push('SELECT', ...(options['dedup.rule'] === 'discard' ? [] : (['UPDATE'] as const)));
  if (deletes) needed.push('SELECT', 'DELETE');
  const truncates = mode !== undefined && options['truncate.enabled'];
  return [...ALL.filter((right) => needed.includes(right)), ...(truncates ? (['TRUNCATE'] as const) : [])];
}

class SinkRights {
  readonly #executor: Executor;
  readonly #role: string;
  readonly #all: readonly TableRights[];
  readonly #context: DiagnosisContext;

  constructor(executor: Executor, user: string, all: readonly TableRights[], context: DiagnosisContext) {
    this.#executor = executor;
    this.#role = quoteIdentifier(user);
    this.#all = all;
    this.#context = context;
  }

  async forTables(options: SinkOptions, named: readonly TableName[] | undefined): Promise<Finding[]> {
    const format = sinkFormat(options['protocol.type']);
    if (format.growth === 'none')
      return [ok('rights', 'each statement requires its own, which are not known in advance')];
    const { create } = growthOf(options, format.growth);
    const needed = neededRights(options);
    if (named === undefined) return [await this.#forUnnamed(needed, create)];
    return Promise.all(named.map((table) => this.forTable(table, needed, create)));
  }

  /** Checks the privileges on a table. With `create`, the sink creates the table if it does not exist. */
  async forTable(table: TableName, needed: readonly TableRight[], create: boolean): Promise<Finding> {
    const about = `table ${tableText(table)}`;
    const found = (await this.#executor.catalogue.find(table))?.name;
    const known = this.#all.find(({ table: each }) => each.schema === found?.schema && each.name === found.name);
    if (known !== undefined) {
      const missing = needed.filter((right) => !known.rights.has(right));
      if (missing.length === 0) return ok(about, `the user has ${needed.join(', ')}`);
      return fail(about, `the user lacks ${missing.join(', ')}`, this.#grant(missing, known.table));
    }
    if (!create) {
      return fail(
        about,
        'does not exist, and the sink does not create it',
        `CREATE TABLE ${quoteTable(table)} (…);, or set auto.create=true`,
      );
    }
    const place = await readCreationPlace(this.#executor, table.schema, this.#context.signal);
    if (place?.allowed === true) return ok(about, `does not exist; the sink creates it in schema ${place.schema}`);
    return fail(about, 'does not exist, and the user may not create it', this.#creation(place?.schema ?? table.schema));
  }

  /** The messages determine the tables, so all tables in the first schema of the search path are checked. */
  async #forUnnamed(needed: readonly TableRight[], create: boolean): Promise<Finding> {
    const place = await readCreationPlace(this.#executor, undefined, this.#context.signal);
    const tables = this.#all.filter(({ table }) => table.schema === place?.schema);
    const lacking = tables.filter(({ rights }) => needed.some((right) => !rights.has(right)));
    const mayCreate = create && place?.allowed === true;
    const creation = create ? `; the user may ${mayCreate ? '' : 'not '}create tables` : '';
    if (lacking.length === 0 && (mayCreate || (!create && tables.length > 0))) {
      const schema = place?.schema ?? '';
      const all = tables.length === 1 ? 'the only table' : `all ${String(tables.length)} tables`;
      return ok('rights', `${needed.join(', ')} on ${all} of schema ${schema}${creation}`);
    }
    if (lacking.length === 0) {
      if (create) {
        const level = tables.length === 0 ? fail : warn;
        return level(
          'rights',
          'the user may not create tables, which messages may need',
          this.#creation(place?.schema),
        );
      }
      return warn(
        'rights',
        'there is no table yet, and the sink does not create tables',
        'create the tables, or set auto.create=true',
      );
    }
    const names = lacking.slice(0, MAX_NAMED).map(({ table }) => tableText(table));
    const more = lacking.length > names.length ? ` and ${String(lacking.length - names.length)} more` : '';
    const level = lacking.length === tables.length && !mayCreate ? fail : warn;
    return level(
      'rights',
      `the user lacks some of ${needed.join(', ')} on ${names.join(', ')}${more}${creation}`,
      lacking
        .slice(0, MAX_NAMED)
        .map(({ table }) => this.#grant(needed, table))
        .join(' '),
    );
  }

  #grant(rights: readonly TableRight[], table: TableName): string {
    return `GRANT ${rights.join(', ')} ON ${quoteTable(table)} TO ${this.#role};`;
  }

  #creation(schema: string | undefined): string {
    const name = quoteIdentifier(schema ?? 'public');
    return schema === undefined
      ? `CREATE SCHEMA ${name} AUTHORIZATION ${this.#role};`
      : `GRANT USAGE, CREATE ON SCHEMA ${name} TO ${this.#role};`;
  }
}

import { fail, ok, warn, type ConnectorConfig, type DiagnosisContext, type Finding } from '../../src/index.ts';
import { diagnoseDatabase, quoteIdentifier, quoteTable, readTableRights, type Executor } from '../database/index.ts';
import { CONNECTIONS } from './db-source-task.ts';
import { describeQuery } from './query-table.ts';
import { sourceSettings, type SourceSettings } from './source-settings.ts';
import { TableWatch } from './table-watch.ts';
import { tableOrder, type TableOrder } from './table-order.ts';
import { MAX_NAMED, named, tableLabel } from './tables.ts';
import { prefixHint, topicNames } from './topic-names.ts';

/** The findings of `sluice doctor` for a source: its database, the tables that it reads, and the privileges on them. */
export async function diagnoseSource(config: ConnectorConfig, context: DiagnosisContext): Promise<readonly Finding[]> {
  const settings = sourceSettings(config);
  const connections = Number(config['tasks.max'] ?? 1) * CONNECTIONS + 1;
  const findings = await diagnoseDatabase(settings.connection, { connections, writes: false }, context, (executor) =>
    settings.query === undefined
      ? tableFindings(executor, settings, context)
      : queryFindings(executor, settings.query, context, settings),
  );
  return findings;
}

async function queryFindings(
  executor: Executor,
  query: { readonly sql: string; readonly name: string },
  context: DiagnosisContext,
  { naming }: SourceSettings,
): Promise<Finding[]> {
  const { columns } = await describeQuery(executor, query);
  context.writesTo([...topicNames(naming, [query.name]).topics.values()]);
  return [ok('query', `returns ${String(columns.length)} columns: ${columns.map(({ name }) => name).join(', ')}`)];
}

async function tableFindings(
  executor: Executor,
  settings: SourceSettings,
  context: DiagnosisContext,
): Promise<Finding[]> {
  const watch = new TableWatch(executor);
  const all = await watch.tables();
  const included = all.filter((table) => settings.isIncluded(tableLabel(table)));
  const orders = new Map(included.map((table) => [table, tableOrder(table, settings)]));
  const isRead = (order: TableOrder | string) => settings.mode === 'bulk' || typeof order !== 'string';
  const read = included.filter((table) => isRead(orders.get(table) ?? ''));
  const findings: Finding[] = [];
  const hint = prefixHint(settings.naming);
  if (hint !== undefined) findings.push(warn('topic.prefix', hint));
  const views = (await watch.views()).filter((view) => settings.isIncluded(view));
  if (views.length > 0)
    findings.push(warn('views', `are skipped: ${named(views)}`, 'read a view with the option query'));
  const skipped = [...orders].flatMap(([table, order]) =>
    isRead(order) || typeof order !== 'string' ? [] : [{ label: tableLabel(table), reason: order }],
  );
  for (const { label, reason } of skipped.slice(0, MAX_NAMED)) {
    const fix = 'set the column that orders its rows, or table.exclude';
    findings.push(warn(`table ${label}`, `is skipped: ${reason}`, fix));
  }
  if (skipped.length > MAX_NAMED) findings.push(warn('tables', `${String(skipped.length)} are skipped in total`));
  const { topics, refused } = topicNames(settings.naming, read.map(tableLabel).sort());
  for (const reason of new Set(refused.values())) findings.push(fail('topics', reason));
  context.writesTo([...topics.values()]);
  if (read.length === 0) return [...findings, warn('tables', 'there are none to read yet', 'check table.include')];
  const rights = await readTableRights(executor, context.signal);
  const role = quoteIdentifier(settings.connection.user);
  const denied = read.filter(({ name }) =>
    rights.some(({ table, readsAll }) => table.schema === name.schema && table.name === name.name && !readsAll),
  );
  for (const table of denied.slice(0, MAX_NAMED)) {
    const fix = `GRANT USAGE ON SCHEMA ${quoteIdentifier(table.name.schema)} TO ${role}; GRANT SELECT ON ${quoteTable(table.name)} TO ${role};`;
    findings.push(fail(`table ${tableLabel(table)}`, 'the user lacks SELECT on the table or USAGE on its schema', fix));
  }
  if (denied.length > MAX_NAMED)
    findings.push(fail('tables', `the user lacks SELECT on ${String(denied.length)} tables in total`));
  if (denied.length === 0)
    findings.push(ok('tables', `${String(read.length)} to read: ${named(read.map(tableLabel))}`));
  if (settings.notify)
    findings.push(
      ...triggerFindings(
        read.map(({ name }) => name),
        rights,
      ),
    );
  return findings;
}

function triggerFindings(
  read: readonly { readonly schema: string; readonly name: string }[],
  rights: Awaited<ReturnType<typeof readTableRights>>,
): Finding[] {
  const foreign = read.filter((name) =>
    rights.some(
      ({ table, rights: held }) => table.schema === name.schema && table.name === name.name && !held.has('TRIGGER'),
    ),
  );
  if (foreign.length === 0) return [];
  const message = `creating triggers requires the privilege TRIGGER; tables without triggers are polled instead: ${named(foreign.map((name) => tableLabel({ name })))}`;
  return [warn('notify', message, 'GRANT TRIGGER on the tables to the user, or set notify=false')];
}

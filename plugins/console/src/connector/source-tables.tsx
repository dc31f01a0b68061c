import type { ConnectorOffsets, WorkerFlow } from '../common/answers.ts';
import { connectorPath, requestText } from '../common/api.ts';
import { parseExact } from '../common/exact-json.ts';
import { short } from '../common/format.ts';
import { usePolled } from '../kit/loaded.tsx';
import { Table } from '../kit/table.tsx';
import { texts } from '../texts/connector.ts';
import { offsetText, sourceRows, type OffsetRow } from './offset-rows.ts';

type Part = WorkerFlow['parts'][number];

interface SourceTablesProps {
  readonly name: string;
  readonly workers: readonly WorkerFlow[];
}

/** Lists the tables of a source with the state, the counts and the stored offset of each table. */
export function SourceTables({ name, workers }: SourceTablesProps) {
  const { value: offsets = [] } = usePolled(`offsets of ${name}`, async () => {
    const text = await requestText('GET', `${connectorPath(name)}/offsets`);
    return sourceRows((parseExact(text) as ConnectorOffsets).offsets);
  });
  const parts = workers.flatMap((each) => each.parts);
  if (parts.length === 0) return null;
  const titles = [texts.table, texts.state, texts.rowsRead, texts.lateRows, texts.passedOver, texts.failures];
  return (
    <section class="tasks">
      <h2>{texts.table}</h2>
      <Table label={texts.table} titles={[...titles, texts.position]} numbers={titles.slice(2)}>
        {parts.map((part) => (
          <tr key={part.name}>
            <th scope="row">{part.name}</th>
            <td>
              {part.state}
              {part.error === undefined ? '' : <div class="problem">{part.error}</div>}
            </td>
            <Count part={part} name="rows" />
            <Count part={part} name="lateRows" />
            <Count part={part} name="passedOver" />
            <Count part={part} name="failures" />
            <td class="position">{positionOf(part, offsets) ?? texts.noPosition}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function Count({ part: { counts }, name }: { readonly part: Part; readonly name: string }) {
  return <td class="number">{short(counts[name] ?? null)}</td>;
}

function positionOf({ name }: Part, offsets: readonly OffsetRow[]): string | undefined {
  const row = offsets.find(({ key, partition }) => key === name || Object.values(partition).includes(name));
  return row && offsetText(row.current);
}

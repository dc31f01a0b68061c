import type { KeyDifference } from '../common/answers.ts';
import { Table } from '../kit/table.tsx';
import { texts } from '../texts/history.ts';

interface ConfigDifferenceProps {
  readonly label: string;
  readonly titles: readonly [before: string, after: string];
  readonly difference: readonly KeyDifference[];
}

/** Shows the two values of each option that differs, side by side. */
export function ConfigDifference({ label, titles, difference }: ConfigDifferenceProps) {
  return (
    <div class="difference">
      <Table label={label} titles={[texts.key, ...titles]}>
        {difference.map(({ key, before, after }) => (
          <tr key={key}>
            <th scope="row">{key}</th>
            <Value value={before} />
            <Value value={after} />
          </tr>
        ))}
      </Table>
    </div>
  );
}

function Value({ value }: { readonly value: string | null | undefined }) {
  return value === undefined || value === null ? <td class="absent">{texts.absent}</td> : <td>{value}</td>;
}

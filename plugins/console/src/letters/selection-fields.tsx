import { texts } from '../texts/letters.ts';
import { FILTERS, type SelectionForm } from './letter-selection.ts';

interface SelectionFieldsProps {
  readonly form: SelectionForm;
  readonly onChange: (form: SelectionForm) => void;
}

/** What narrows a selection down, and other transforms; folded, as most replays need neither. */
export function SelectionFields({ form, onChange }: SelectionFieldsProps) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const input = (key: keyof SelectionForm) => ({
    value: form[key],
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
      onChange({ ...form, [key]: currentTarget.value });
    },
  });
  const field = (key: keyof SelectionForm, label: string) => (
    <label key={key}>
      {label}
      <input type="text" size={16} {...input(key)} />
    </label>
  );
  const timeField = (key: keyof SelectionForm, label: string) => (
    <label>
      {label}
      <input type="datetime-local" step="1" {...input(key)} />
    </label>
  );
  return (
    <>
      <details>
        <summary>{texts.narrow}</summary>
        <div class="row">
          {field('partition', texts.partition)}
          {field('from', texts.offsetsFrom)}
          {field('to', texts.offsetsTo)}
        </div>
        <div class="row">
          {timeField('since', texts.since(zone))}
          {timeField('until', texts.until(zone))}
        </div>
        <div class="row">{FILTERS.map((key) => field(key, texts.filters[key]))}</div>
      </details>
      <details class="wide-field">
        <summary>{texts.chain}</summary>
        <p>{texts.chainHint}</p>
        <textarea
          aria-label={texts.chain}
          spellcheck={false}
          value={form.transforms}
          onInput={({ currentTarget }) => {
            onChange({ ...form, transforms: currentTarget.value });
          }}
        />
      </details>
    </>
  );
}

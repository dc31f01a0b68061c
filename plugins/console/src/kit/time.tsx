import { dateTime, shortTime, zoneText } from '../common/time.ts';

interface TimeProps {
  readonly at: Date | number | string;
  readonly class?: string;
}

/** A time in the chosen zone. If it is today, the date is left out. The tooltip shows the date and the zone. */
export function Time({ at, class: className }: TimeProps) {
  return (
    <time class={className} dateTime={new Date(at).toISOString()} title={`${dateTime(at)} ${zoneText(new Date(at))}`}>
      {shortTime(at)}
    </time>
  );
}

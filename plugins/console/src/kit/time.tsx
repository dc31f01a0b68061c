import { dateTime, shortTime, zoneText } from '../common/time.ts';

interface TimeProps {
  readonly at: Date | number | string;
  readonly class?: string;
}

/** A time in the chosen zone; today's without the date, which the tooltip has with the zone. */
export function Time({ at, class: className }: TimeProps) {
  return (
    <time class={className} dateTime={new Date(at).toISOString()} title={`${dateTime(at)} ${zoneText(new Date(at))}`}>
      {shortTime(at)}
    </time>
  );
}

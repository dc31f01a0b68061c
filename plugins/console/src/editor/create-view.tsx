import { texts } from '../texts/frame.ts';

export function CreateView() {
  return <p class="empty">{texts.loading}</p>;
}

// Package hooks delivers events to URLs that customers register.
package hooks

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Hook is one registered target.
type Hook struct {
	Target string
	Secret string
}

var client = &http.Client{
	Timeout: 10 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	},
}

// Deliver sends one event and returns the status that the target answered.
func Deliver(ctx context.Context, hook Hook, event []byte) (int, error) {
	target, err := url.Parse(hook.Target)
	if err != nil || (target.Scheme != "https" && target.Scheme != "http") {
		return 0, fmt.Errorf("%q is not a web address", hook.Target)
	}
	request, err := http.NewRequestWithContext(
		ctx, http.MethodPost, target.String(), bytes.NewReader(event))
	if err != nil {
		return 0, fmt.Errorf("build request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Hook-Secret", hook.Secret)
	response, err := client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("deliver event: %w", err)
	}
	defer response.Body.Close()
	return response.StatusCode, nil
}

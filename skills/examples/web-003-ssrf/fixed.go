// Package hooks delivers events to URLs that customers register.
package hooks

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// Hook is one registered target.
type Hook struct {
	Target string
	Secret string
}

// onlyPublic runs after name resolution, so it sees the address that is really used.
func onlyPublic(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := target.Addr().Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return fmt.Errorf("address %s is not public", ip)
	}
	return nil
}

var dialer = &net.Dialer{Timeout: 5 * time.Second, Control: onlyPublic}

var client = &http.Client{
	Timeout:   10 * time.Second,
	Transport: &http.Transport{DialContext: dialer.DialContext},
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

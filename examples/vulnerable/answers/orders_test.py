import shop


def test_nobody_reads_the_orders_of_others():
    found = shop.orders_of(shop.open_shop(), "eve' or '1'='1")
    assert "desk" not in found


def test_customers_read_their_own_orders():
    assert shop.orders_of(shop.open_shop(), "ada") == ["lamp"]
